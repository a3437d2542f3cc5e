# Synthesis of the kernels in AMD's tool, with its reports in lpu_KERNEL_SIZE/solution/syn/report:
#   vitis_hls -f scripts/hls/csynth.tcl
# Relies on common.tcl, which says how to choose one kernel or size.
source [file join [file dirname [info script]] common.tcl]

foreach kernel [chosen OPENLPU_KERNEL $kernels] {
  foreach size [chosen OPENLPU_SIZE $sizes] {
    open_kernel $kernel $size 0
    csynth_design
    close_project
  }
}
exit
