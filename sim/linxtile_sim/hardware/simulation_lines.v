// Bytes of the simulated memory: three reads in the same cycle, one write with a bit per byte.
// Written by hand because a memory of megabytes would otherwise be spelled out line by line.
module simulation_lines #(
    parameter ADDRESS_BITS = 17,
    parameter BYTES = 16
) (
    input clk,
    input [BYTES-1:0] write_enable,
    input [ADDRESS_BITS-1:0] write_address,
    input [8*BYTES-1:0] write_data,
    input [ADDRESS_BITS-1:0] host_address,
    output [8*BYTES-1:0] host_data,
    input [ADDRESS_BITS-1:0] fetch_address,
    output [8*BYTES-1:0] fetch_data,
    input [ADDRESS_BITS-1:0] read_address,
    output [8*BYTES-1:0] read_data
);
    reg [8*BYTES-1:0] lines [0:(1<<ADDRESS_BITS)-1];
    integer index;

    initial
        for (index = 0; index < (1 << ADDRESS_BITS); index = index + 1)
            lines[index] = {8*BYTES{1'b0}};

    assign host_data = lines[host_address];
    assign fetch_data = lines[fetch_address];
    assign read_data = lines[read_address];

    always @(posedge clk)
        for (index = 0; index < BYTES; index = index + 1)
            if (write_enable[index])
                lines[write_address][8*index +: 8] <= write_data[8*index +: 8];
endmodule

// Copy of the tile RAM, so that the host can look at tiles without a port into the core.
module simulation_tiles #(
    parameter ADDRESS_BITS = 13,
    parameter BYTES = 16
) (
    input clk,
    input write_0_valid,
    input [ADDRESS_BITS-1:0] write_0_address,
    input [8*BYTES-1:0] write_0_data,
    input write_1_valid,
    input [ADDRESS_BITS-1:0] write_1_address,
    input [8*BYTES-1:0] write_1_data,
    input write_2_valid,
    input [ADDRESS_BITS-1:0] write_2_address,
    input [8*BYTES-1:0] write_2_data,
    input [ADDRESS_BITS-1:0] read_address,
    output [8*BYTES-1:0] read_data
);
    reg [8*BYTES-1:0] lines [0:(1<<ADDRESS_BITS)-1];
    integer index;

    initial
        for (index = 0; index < (1 << ADDRESS_BITS); index = index + 1)
            lines[index] = {8*BYTES{1'b0}};

    assign read_data = lines[read_address];

    always @(posedge clk) begin
        if (write_0_valid) lines[write_0_address] <= write_0_data;
        if (write_1_valid) lines[write_1_address] <= write_1_data;
        if (write_2_valid) lines[write_2_address] <= write_2_data;
    end
endmodule
