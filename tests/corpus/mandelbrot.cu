// Escape-time fractal in float and double, RGBA output, with a template precision.
#include <cuda_runtime.h>
template <class T> __device__ inline int calcMandelbrot(const T xPos, const T yPos, const int crunch) {
    T x = xPos, y = yPos, yy = y * y, xx = x * x;
    int i = crunch;
    while (--i && (xx + yy < T(4.0))) {
        y = x * y * T(2.0) + yPos;
        x = xx - yy + xPos;
        yy = y * y;
        xx = x * x;
    }
    return i;
}
template <class T>
__global__ void mandelbrot(uchar4* dst, const int imageW, const int imageH, const int crunch, const T xOff, const T yOff,
                           const T scale, const uchar4 colors) {
    const int ix = blockDim.x * blockIdx.x + threadIdx.x;
    const int iy = blockDim.y * blockIdx.y + threadIdx.y;
    if (ix >= imageW || iy >= imageH)
        return;
    int m = calcMandelbrot<T>(T(ix) * scale + xOff, T(iy) * scale + yOff, crunch);
    m = m > 0 ? crunch - m : 0;
    uchar4 color;
    color.x = m * colors.x;
    color.y = m * colors.y;
    color.z = m * colors.z;
    color.w = 255;
    dst[imageW * iy + ix] = color;
}
int main() {
    uchar4 *image, colors = {3, 5, 7, 0};
    cudaMalloc(&image, 160 * 120 * sizeof(uchar4));
    dim3 threads(16, 16), grid(10, 8);
    mandelbrot<float><<<grid, threads>>>(image, 160, 120, 64, -2.f, -1.f, 0.02f, colors);
    mandelbrot<double><<<grid, threads>>>(image, 160, 120, 64, -2., -1., 0.02, colors);
    return 0;
}
