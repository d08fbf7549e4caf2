; Subtract from each row of an image its largest element, a quarter of the image at a time: while the vector engine
; works on one quarter, the next one is loaded and the one before is stored.
;
; image  64 x 64 FP32, row after row, at 0x10000
; result the same shape at 0x20000
;
; linxtile run examples/row_normalise_buffered.s --load 0x10000=image.npy --dump 0x20000:16384=result.npy

.equ IMAGE, 0x10000
.equ RESULT, 0x20000

    li a0, IMAGE
    li a1, IMAGE + 0x1000
    li a2, IMAGE + 0x2000
    li a3, IMAGE + 0x3000
    li a4, RESULT
    li a5, RESULT + 0x1000
    li a6, RESULT + 0x2000
    li a7, RESULT + 0x3000

    TLOAD.NORM    <64, 16, FP32>, [a0], ->T<4KB>
    TLOAD.NORM    <64, 16, FP32>, [a1], ->T<4KB>
    TROWMAX       <64, 16, FP32>, T#2.reuse, ->U<256B>

    TLOAD.NORM    <64, 16, FP32>, [a2], ->T<4KB>
    TROWMAX       <64, 16, FP32>, T#2.reuse, ->U<256B>
    TROWEXPANDSUB <64, 16, FP32>, T#3, U#2, ->M<4KB>
    TSTORE.NORM   <64, 16, FP32>, M#1, [a4]

    TLOAD.NORM    <64, 16, FP32>, [a3], ->T<4KB>
    TROWMAX       <64, 16, FP32>, T#2.reuse, ->U<256B>
    TROWEXPANDSUB <64, 16, FP32>, T#3, U#2, ->M<4KB>
    TSTORE.NORM   <64, 16, FP32>, M#1, [a5]

    TROWMAX       <64, 16, FP32>, T#1.reuse, ->U<256B>
    TROWEXPANDSUB <64, 16, FP32>, T#2, U#2, ->M<4KB>
    TSTORE.NORM   <64, 16, FP32>, M#1, [a6]

    TROWEXPANDSUB <64, 16, FP32>, T#1, U#1, ->M<4KB>
    TSTORE.NORM   <64, 16, FP32>, M#1, [a7]
