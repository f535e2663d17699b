// Discrete cosine transform of 8x8 tiles, a thread a pixel.
#define BLOCK_SIZE 8
__constant__ float DCTv8matrix[64] = {0.3535533906f, 0.4903926402f, 0.4619397663f};
__global__ void dct8x8(float* Dst, int ImgWidth, int OffsetXBlocks, int OffsetYBlocks, const float* Src) {
    __shared__ float CurBlockLocal1[BLOCK_SIZE * BLOCK_SIZE];
    __shared__ float CurBlockLocal2[BLOCK_SIZE * BLOCK_SIZE];
    const int bx = blockIdx.x + OffsetXBlocks, by = blockIdx.y + OffsetYBlocks;
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int place = __mul24((__mul24(by, BLOCK_SIZE) + ty), ImgWidth) + __mul24(bx, BLOCK_SIZE) + tx;
    CurBlockLocal1[(ty << 3) + tx] = Src[place];
    __syncthreads();
    float curelem = 0;
    int DCTv8matrixIndex = 0 * BLOCK_SIZE + ty, CurBlockLocal1Index = 0 * BLOCK_SIZE + tx;
#pragma unroll
    for (int i = 0; i < BLOCK_SIZE; i++) {
        curelem += DCTv8matrix[DCTv8matrixIndex] * CurBlockLocal1[CurBlockLocal1Index];
        DCTv8matrixIndex += BLOCK_SIZE;
        CurBlockLocal1Index += BLOCK_SIZE;
    }
    CurBlockLocal2[(ty << 3) + tx] = curelem;
    __syncthreads();
    Dst[place] = CurBlockLocal2[(tx << 3) + ty];
}
void transform(float* dst, const float* src, int width, int height) {
    dct8x8<<<dim3(width / 8, height / 8), dim3(8, 8)>>>(dst, width, 0, 0, src);
}
