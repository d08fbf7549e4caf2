; Subtract from each row of an image its largest element; small enough for the preset `small`.
;
; image  8 x 64 FP32, row after row, at 0x10000
; result the same shape at 0x20000
;
; linxtile run examples/row_normalise_8_rows.s --load 0x10000=image.npy --dump 0x20000:2048=result.npy

.equ IMAGE, 0x10000
.equ RESULT, 0x20000

    li a0, IMAGE
    li a1, RESULT
    TLOAD.NORM    <64, 8, FP32>, [a0], ->T<2KB>
    TROWMAX       <64, 8, FP32>, T#1.reuse, ->U<256B>
    TROWEXPANDSUB <64, 8, FP32>, T#1, U#1, ->M<2KB>
    TSTORE.NORM   <64, 8, FP32>, M#1.reuse, [a1]
