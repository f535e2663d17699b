// Edge magnitude of a grey image, and an RGB to grey conversion.
typedef unsigned char Pixel;
__device__ unsigned char ComputeSobel(Pixel ul, Pixel um, Pixel ur, Pixel ml, Pixel mr, Pixel ll, Pixel lm, Pixel lr,
                                      float fScale) {
    short Horz = ur + 2 * mr + lr - ul - 2 * ml - ll;
    short Vert = ul + 2 * um + ur - ll - 2 * lm - lr;
    short Sum = (short)(fScale * (abs((int)Horz) + abs((int)Vert)));
    return (unsigned char)(Sum < 0 ? 0 : min((int)Sum, 0xff));
}
__global__ void sobel(const Pixel* in, Pixel* out, int w, int h, float scale) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1)
        return;
    const Pixel* p = in + y * w + x;
    out[y * w + x] = ComputeSobel(p[-w - 1], p[-w], p[-w + 1], p[-1], p[1], p[w - 1], p[w], p[w + 1], scale);
}
__global__ void grey(const uchar3* rgb, Pixel* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar3 c = rgb[i];
        out[i] = (Pixel)min(max(0.299f * c.x + 0.587f * c.y + 0.114f * c.z, 0.f), 255.f);
    }
}
void filter(const uchar3* rgb, Pixel* a, Pixel* b, int w, int h) {
    grey<<<(w * h + 255) / 256, 256>>>(rgb, a, w * h);
    sobel<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(a, b, w, h, 1.f);
}
