#!/usr/bin/env python3
"""Prints hls/engine/tables_data.hpp: the interpolation tables of docs/numbers.md section 5 as integer literals. And the
same tables for the RTL.

Every point is computed with 60 decimal digits and rounded once, so that any machine prints the same file.

usage: make_tables.py                      writes the file
       make_tables.py --systemverilog      writes the same points as rtl/common/lpu_tables_pkg.sv
       make_tables.py [--systemverilog] --check
                                           exits with 1 when the file isn't what this script prints
"""

import os
import sys
from decimal import ROUND_HALF_EVEN, Decimal, getcontext

getcontext().prec = 60
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATH = os.path.join("hls", "engine", "tables_data.hpp")
SYSTEMVERILOG_PATH = os.path.join("rtl", "common", "lpu_tables_pkg.sv")
LINE_COLUMNS = 120
LN2 = Decimal(2).ln()


def rounded(value):
    return int(value.to_integral_value(rounding=ROUND_HALF_EVEN))


def lines_through_middle(function, start, step, count, unit):
    """Entry i: the chord of function over [start + i*step, + step], moved so that the largest errors above and below are
    equal. Base and slope (change over the entry) in units of 1/unit. The functions have no turning point in an entry."""
    entries = []
    for i in range(count):
        left = function(start + step * i)
        right = function(start + step * (i + 1))
        # The largest distance of chord and curve is in the middle but for terms of third order.
        distance = (left + right) / 2 - function(start + step * i + step / 2)
        entries.append((rounded((left - distance / 2) * unit), rounded((right - left) * unit)))
    return entries


def lines_through_points(function, start, step, count, unit):
    """Entry i joins the rounded points i and i + 1: continuous, and exact at both ends of the table."""
    points = [rounded(function(start + step * i) * unit) for i in range(count + 1)]
    return [(points[i], points[i + 1] - points[i]) for i in range(count)]


def within(entries, lowest, highest):
    """Moves the ends of the table so that no interpolated value leaves lowest...highest."""
    result = []
    for base, slope in entries:
        base = min(max(base, lowest), highest)
        end = min(max(base + slope, lowest), highest)
        result.append((base, end - base))
    return result


def sigmoid(x):
    return 1 / (1 + (-x).exp())


def reciprocal_table():
    entries = lines_through_middle(lambda x: 1 / x, Decimal(1), Decimal(1) / 512, 512, 2**24)
    return within(entries, 2**23, 2**24)


def rsqrt_table():
    halves = []
    for scale in (1, 2):
        halves += lines_through_middle(lambda x, s=scale: 1 / (x * s).sqrt(), Decimal(1), Decimal(1) / 256, 256, 2**24)
    return within(halves, 2**23, 2**24)


def sigmoid_table():
    return within(lines_through_middle(sigmoid, Decimal(0), Decimal(1) / 64, 1024, 2**23), 2**22, 2**23)


def power_table():
    entries = lines_through_middle(lambda x: (x * LN2).exp(), Decimal(0), Decimal(1) / 128, 128, 2**16)
    return within(entries, 2**16, 2**17 - 1)


def log2_table():
    return lines_through_points(lambda x: x.ln() / LN2, Decimal(1), Decimal(1) / 256, 256, 2**26)


def print_table(name, comment, entries):
    out = [f"/// {comment}", f"constexpr std::int32_t {name}[{len(entries)}][2] = {{"]
    line = ""
    for base, slope in entries:
        item = f"{{{base},{slope}}},"
        if len(line) + len(item) + 1 > LINE_COLUMNS - 2:
            out.append(" " + line)
            line = ""
        line += " " + item
    out.append(" " + line)
    return out + ["};", ""]


def text():
    factor = rounded(LN2 * 2**16)
    offset = rounded(-LN2.ln() * 2**42)
    out = [
        "// Interpolation tables of docs/numbers.md section 5: {base, slope} pairs, integers. Printed by",
        "// scripts/make_tables.py, which also computes the points; don't edit. The error bounds are tested in tests/engine.",
        "#pragma once",
        "",
        "#include <cstdint>",
        "",
        "// clang-format off",
        "namespace lpu {",
        "namespace engine {",
        "",
        "constexpr int kReciprocalRestBits = 14;",
        "constexpr int kReciprocalErrorLog2 = -20;  ///< relative",
        "constexpr int kRsqrtRestBits = 15;",
        "constexpr int kRsqrtErrorLog2 = -20;  ///< relative",
        "constexpr int kSigmoidFractionBits = 16;  ///< of |g|",
        "constexpr int kSigmoidArgumentBits = 20;",
        "constexpr int kSigmoidRestBits = 10;",
        "constexpr int kSigmoidErrorLog2 = -18;  ///< absolute",
        "constexpr int kPowerRestBits = 9;",
        "constexpr int kPowerErrorUnits = 2;  ///< absolute, in units of 2^-16",
        "constexpr int kLog2RestBits = 23;",
        "",
        "// ln 2 with 16 fraction bits, -ln(ln 2) with 42: the Gumbel noise.",
        f"constexpr std::int64_t kGumbelFactor = {factor};",
        f"constexpr std::int64_t kGumbelOffset = {offset};",
        "",
    ]
    out += print_table("kReciprocalTable", "[512] 2^24/(1 + i/512)", reciprocal_table())
    out += print_table("kRsqrtTable", "[2 * 256] 2^24/sqrt(1 + i/256), then 2^24/sqrt(2 + i/128)", rsqrt_table())
    out += print_table("kSigmoidTable", "[1024] 2^23/(1 + e^(-i/64))", sigmoid_table())
    out += print_table("kPowerTable", "[128] 2^16 * 2^(i/128)", power_table())
    out += print_table("kLog2Table", "[256] 2^26 * log2(1 + i/256)", log2_table())
    out += ["}  // namespace engine", "}  // namespace lpu", "// clang-format on"]
    return "\n".join(out) + "\n"


# Bits of base and slope of an entry, both whole hexadecimal digits.
SYSTEMVERILOG_POINT = (24, 16)
SYSTEMVERILOG_WIDE_POINT = (28, 20)
SYSTEMVERILOG_ENTRIES_A_LINE = 8


def systemverilog_entry(base, slope, point):
    """{base, slope} as hexadecimal digits."""
    base_bits, slope_bits = point
    if not 0 <= base < 2**base_bits or not 0 <= base + slope <= 2**base_bits or abs(slope) >= 2 ** (slope_bits - 1):
        raise ValueError(f"entry {base}, {slope} doesn't fit its fields")
    return f"{base:0{base_bits // 4}x}{slope % 2**slope_bits:0{slope_bits // 4}x}"


def systemverilog_table(name, comment, entries, point):
    """One wide constant; entry i lies at bit i * (bits of a point), so the last entry is printed first."""
    digits = [systemverilog_entry(*entry, point) for entry in reversed(entries)]
    out = [f"  // {comment}", f"  localparam logic [{len(entries)}*{sum(point)}-1:0] {name} = {{"]
    for first in range(0, len(digits), SYSTEMVERILOG_ENTRIES_A_LINE):
        part = digits[first:first + SYSTEMVERILOG_ENTRIES_A_LINE]
        comma = "," if first + len(part) < len(digits) else ""
        out.append(f"    {4 * len(''.join(part))}'h" + "_".join(part) + comma)
    return out + ["  };", ""]


def systemverilog_text():
    out = [
        "// Interpolation tables of docs/numbers.md section 5 for lpu_interpolate: those of hls/engine/tables_data.hpp.",
        "// Printed by scripts/make_tables.py --systemverilog; don't edit.",
        "package lpu_tables_pkg;",
        "  // A point: {base, slope}, the slope in two's complement",
        f"  localparam int BaseBits = {SYSTEMVERILOG_POINT[0]};",
        f"  localparam int SlopeBits = {SYSTEMVERILOG_POINT[1]};",
        "  // Of Log2",
        f"  localparam int WideBaseBits = {SYSTEMVERILOG_WIDE_POINT[0]};",
        f"  localparam int WideSlopeBits = {SYSTEMVERILOG_WIDE_POINT[1]};",
        "",
        "  // ln 2 with 16 fraction bits, -ln(ln 2) with 42: the Gumbel noise",
        f"  localparam int GumbelFactor = {rounded(LN2 * 2**16)};",
        f"  localparam logic [47:0] GumbelOffset = 48'd{rounded(-LN2.ln() * 2**42)};",
        "",
    ]
    point = SYSTEMVERILOG_POINT
    out += systemverilog_table("Reciprocal", "[512] 2^24/(1 + i/512)", reciprocal_table(), point)
    out += systemverilog_table("Rsqrt", "[2 * 256] 2^24/sqrt(1 + i/256), then 2^24/sqrt(2 + i/128)", rsqrt_table(),
                               point)
    out += systemverilog_table("Sigmoid", "[1024] 2^23/(1 + e^(-i/64))", sigmoid_table(), point)
    out += systemverilog_table("Power", "[128] 2^16 * 2^(i/128)", power_table(), point)
    out += systemverilog_table("Log2", "[256] 2^26 * log2(1 + i/256)", log2_table(), SYSTEMVERILOG_WIDE_POINT)
    return "\n".join(out[:-1] + ["endpackage"]) + "\n"


def main(arguments):
    if not set(arguments) <= {"--systemverilog", "--check"}:
        print(__doc__)
        return 2
    path, printed = (SYSTEMVERILOG_PATH, systemverilog_text()) if "--systemverilog" in arguments else (PATH, text())
    if "--check" in arguments:
        with open(os.path.join(ROOT, path), encoding="utf-8") as file:
            fresh = file.read() == printed
        print(f"{path} is " + ("fresh" if fresh else "stale: run scripts/make_tables.py " + " ".join(
            argument for argument in arguments if argument != "--check")))
        return 0 if fresh else 1
    with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
        file.write(printed)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
