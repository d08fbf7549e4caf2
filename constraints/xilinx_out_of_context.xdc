# Out-of-context build of a core alone on a Xilinx part: the one clock, no pins. Period in nanoseconds.
create_clock -name clk -period 10.000 [get_ports clk]
