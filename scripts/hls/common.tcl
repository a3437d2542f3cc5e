# What csim.tcl and csynth.tcl share: which kernels and sizes, their sources, device and clock.
# For AMD's vitis_hls 2022.2 or newer. Chosen by the environment:
#   OPENLPU_KERNEL  matvec, softmax, residual or swiglu (default: all of them)
#   OPENLPU_SIZE    tiny or u55c (default: both)
#   OPENLPU_PART    device (default: the U55C's, also for `tiny`, which names no device)

set root [file normalize [file join [file dirname [info script]] .. ..]]
set kernels {matvec softmax residual swiglu}
set sizes {tiny u55c}
# The clocks of hls/contract/hardware_config.hpp, as periods in nanoseconds.
array set periods {tiny 10.0 u55c 3.333}
# The file that holds a kernel's tops, and the bench's word for it.
array set sources {matvec matvec_tops.cpp softmax softmax_tops.cpp residual vector_tops.cpp swiglu vector_tops.cpp}
array set benches {matvec matvec softmax softmax residual vector swiglu vector}

proc from_environment {name fallback} {
  if {[info exists ::env($name)] && $::env($name) ne ""} {
    return $::env($name)
  }
  return $fallback
}

proc chosen {name all} {
  set choice [from_environment $name $all]
  foreach item $choice {
    if {[lsearch -exact $all $item] < 0} {
      error "$name is '$item'; known: $all"
    }
  }
  return $choice
}

# Opens a fresh solution for a kernel at a size. The bench calls every top, so that C simulation needs all the files.
proc open_kernel {kernel size all_sources} {
  set flags "-std=c++14 -I$::root -Wno-unused-label"
  open_project -reset lpu_${kernel}_${size}
  set_top lpu_kernel_${kernel}_${size}
  if {$all_sources} {
    set files {matvec_tops.cpp softmax_tops.cpp vector_tops.cpp}
  } else {
    set files [list $::sources($kernel)]
  }
  foreach file $files {
    add_files [file join $::root hls kernels $file] -cflags $flags
  }
  add_files -tb [file join $::root tests kernels bench bench.cpp] -cflags $flags
  open_solution -reset solution -flow_target vitis
  set_part [from_environment OPENLPU_PART xcu55c-fsvh2892-2L-e]
  create_clock -period $::periods($size) -name default
}
