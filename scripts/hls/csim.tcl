# C simulation of the kernels in AMD's tool, by the same bench that CTest runs:  vitis_hls -f scripts/hls/csim.tcl
# Relies on common.tcl, which says how to choose one kernel or size.
source [file join [file dirname [info script]] common.tcl]

foreach kernel [chosen OPENLPU_KERNEL $kernels] {
  foreach size [chosen OPENLPU_SIZE $sizes] {
    open_kernel $kernel $size 1
    csim_design -argv $benches($kernel)
    close_project
  }
}
exit
