"""The pragma check finds each kind of fault, and nothing in a sound kernel."""

import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "check_pragmas.py")

SOUND = """
extern "C" void top(int count,
    const int in[64]) {
#pragma HLS interface mode=ap_memory port=in
#pragma HLS interface mode=s_axilite port=return bundle=control
  static int table[4][64];
#pragma HLS array_partition variable=table type=cyclic factor=2 dim=1
#pragma HLS bind_storage variable=table type=ram_2p impl=uram latency=3
outer:
  for (int i = 0; i < count; ++i) {
#pragma HLS pipeline ii=1
#pragma HLS loop_tripcount min=1 max=64
inner:
    for (int j = 0; j < 4; ++j) {
#pragma HLS unroll
      table[j][i] = in[i];
    }
  }
}
"""


def run(text):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "kernel.hpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return subprocess.run([sys.executable, "-B", SCRIPT, "--labels", path], capture_output=True, text=True, check=False)


class CheckPragmas(unittest.TestCase):
    def expect(self, old, new, finding):
        self.assertIn(old, SOUND)
        result = run(SOUND.replace(old, new))
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(finding, result.stdout)

    def test_sound_kernel_has_no_findings(self):
        result = run(SOUND)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_no_file_is_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([sys.executable, "-B", SCRIPT, folder], capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)

    def test_unknown_name(self):
        self.expect("pipeline ii=1", "pipelin ii=1", "'pipelin' isn't a pragma")

    def test_refused_names(self):
        for name in ("data_pack", "array_map", "clock", "region", "resource"):
            self.expect("pipeline ii=1", name + " variable=table", f"'{name}' is refused or deprecated")

    def test_upper_case(self):
        self.expect("HLS pipeline", "HLS PIPELINE", "must be lower case")
        self.expect("#pragma HLS pipeline", "#pragma hls pipeline", "write '#pragma HLS'")
        self.expect("ii=1", "II=1", "no option 'II'")

    def test_unknown_option(self):
        self.expect("unroll", "unroll by=4", "no option 'by'")

    def test_option_without_value_and_flag_with_value(self):
        self.expect("ii=1", "ii", "option 'ii' needs a value")
        self.expect("ii=1", "ii=1 rewind=1", "option 'rewind' takes no value")
        self.expect("ii=1", "ii = 1", "space beside it")

    def test_option_twice(self):
        self.expect("dim=1", "dim=1 dim=2", "stands twice")

    def test_value_outside_its_set(self):
        self.expect("type=cyclic", "type=cycle", "type=cycle: not one of")
        self.expect("impl=uram", "impl=ultra", "impl=ultra: not one of")
        self.expect("mode=ap_memory", "mode=memory", "mode=memory: not one of")
        self.expect("max=64", "max=many", "not a value of the right form")

    def test_required_option_missing(self):
        self.expect("array_partition variable=table", "array_partition", "misses its option 'variable'")
        self.expect("bind_storage variable=table type=ram_2p", "bind_storage variable=table", "misses its option 'type'")
        self.expect("min=1 max=64", "min=1", "misses its option 'max'")
        self.expect(" port=in", "", "misses its option 'port'")

    def test_partition_factor(self):
        self.expect(" factor=2", "", "misses its option 'factor'")
        self.expect("type=cyclic", "type=complete", "takes no factor")

    def test_name_that_nothing_has(self):
        self.expect("variable=table type=ram_2p", "variable=tabel type=ram_2p", "nothing of that name")
        self.expect("port=in\n", "port=input\n", "has no such parameter")

    def test_misplaced_loop_pragmas(self):
        self.expect("#pragma HLS unroll\n      table[j][i] = in[i];", "      table[j][i] = in[i];\n#pragma HLS unroll",
                    "unroll must be first in a loop's body")
        self.expect("#pragma HLS pipeline ii=1\n#pragma HLS loop_tripcount min=1 max=64",
                    "#pragma HLS loop_tripcount min=1 max=64\n#pragma HLS pipeline ii=1", "before other pragmas")
        self.expect("#pragma HLS pipeline ii=1\n", "    int x = 0;\n#pragma HLS pipeline ii=1\n",
                    "pipeline must be first in the body")

    def test_misplaced_interface(self):
        self.expect("#pragma HLS interface mode=ap_memory port=in", "  int x = 0;\n#pragma HLS interface mode=ap_memory port=in",
                    "interface must be first in the top's body")
        self.expect('extern "C" void', "void", "interface belongs into a top")

    def test_continued_line(self):
        self.expect("pipeline ii=1", "pipeline \\", "continues on the next line")

    def test_loop_without_label(self):
        self.expect("inner:\n", "", "a loop without a label")
        self.expect("inner:\n", "outer:\n", "label 'outer' stands twice")


if __name__ == "__main__":
    unittest.main()
