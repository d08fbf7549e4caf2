; Subtract from each row of an image its largest element.
;
; image  64 x 64 FP32, row after row, at 0x10000
; result the same shape at 0x20000
;
; linxtile run examples/row_normalise.s --load 0x10000=image.npy --dump 0x20000:16384=result.npy

.equ IMAGE, 0x10000
.equ RESULT, 0x20000

    li a0, IMAGE
    li a1, RESULT
    TLOAD.NORM    <64, 64, FP32>, [a0], ->T<16KB>
    TROWMAX       <64, 64, FP32>, T#1.reuse, ->U<256B>
    TROWEXPANDSUB <64, 64, FP32>, T#1, U#1, ->M<16KB>
    TSTORE.NORM   <64, 64, FP32>, M#1.reuse, [a1]
