// What verilated.cpp prints through instead of printf, where it is compiled for a core's library: see
// lpu_rtl_model.cpp. Included by the compiler's command line. Relies on nothing.
#pragma once

void lpu_rtl_print(const char* format, ...);
