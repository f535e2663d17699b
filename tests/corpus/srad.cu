// Speckle-reducing anisotropic diffusion: coefficients of an image's gradient.
#include <cuda.h>
typedef float fp;
__global__ void srad(fp d_lambda, int d_Nr, int d_Nc, long d_Ne, int* d_iN, int* d_iS, int* d_jE, int* d_jW, fp* d_dN,
                     fp* d_dS, fp* d_dE, fp* d_dW, fp d_q0sqr, fp* d_c, fp* d_I) {
    int ei = blockIdx.x * blockDim.x + threadIdx.x;
    int row = (ei + 1) % d_Nr - 1, col = (ei + 1) / d_Nr + 1 - 1;
    if ((ei + 1) % d_Nr == 0) {
        row = d_Nr - 1;
        col = col - 1;
    }
    if (ei < d_Ne) {
        fp d_Jc = d_I[ei];
        fp dN = d_I[d_iN[row] + d_Nr * col] - d_Jc, dS = d_I[d_iS[row] + d_Nr * col] - d_Jc;
        fp dW = d_I[row + d_Nr * d_jW[col]] - d_Jc, dE = d_I[row + d_Nr * d_jE[col]] - d_Jc;
        fp d_G2 = (dN * dN + dS * dS + dW * dW + dE * dE) / (d_Jc * d_Jc);
        fp d_L = (dN + dS + dW + dE) / d_Jc;
        fp d_num = (0.5 * d_G2) - ((1.0 / 16.0) * (d_L * d_L));
        fp d_den = 1 + (0.25 * d_L);
        fp d_qsqr = d_num / (d_den * d_den);
        d_den = (d_qsqr - d_q0sqr) / (d_q0sqr * (1 + d_q0sqr));
        fp c = 1.0 / (1.0 + d_den);
        d_c[ei] = c < 0 ? 0 : c > 1 ? 1 : c;
        d_dN[ei] = dN;
        d_dS[ei] = dS;
        d_dW[ei] = dW;
        d_dE[ei] = dE;
    }
}
void launch(int Nr, int Nc, int* iN, int* iS, int* jE, int* jW, fp* d[6], fp* I) {
    long Ne = (long)Nr * Nc;
    dim3 threads, blocks;
    threads.x = 512;
    threads.y = 1;
    int blocks_x = Ne / (int)threads.x;
    if (Ne % (int)threads.x != 0)
        blocks_x = blocks_x + 1;
    blocks.x = blocks_x;
    blocks.y = 1;
    srad<<<blocks, threads>>>(0.5f, Nr, Nc, Ne, iN, iS, jE, jW, d[0], d[1], d[2], d[3], 0.05f, d[4], I);
}
