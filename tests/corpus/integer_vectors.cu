// Packed bytes: SIMD video instructions, dot products, permutations and bit tricks.
#include <stdint.h>
__global__ void sumOfAbsoluteDifferences(const uchar4* a, const uchar4* b, unsigned* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned x = reinterpret_cast<const unsigned*>(a)[i], y = reinterpret_cast<const unsigned*>(b)[i];
    out[i] = __vsadu4(x, y) + __vabsdiffu4(x, y) + __usad(x, y, 1u);
}
__global__ void dot8(const int* a, const int* b, int* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = __dp4a(a[i], b[i], c[i]);
}
__global__ void bits(const uint32_t* in, uint2* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint32_t v = in[i];
        out[i] = make_uint2(__brev(v) ^ __byte_perm(v, 0, 0x0123) ^ __funnelshift_l(v, v, 7),
                            __popc(v) + __clz(v) + __ffs(v) + __umulhi(v, v) + __umul24(v, 3u));
    }
}
__global__ void addInt4(int4* a, const int4* b, longlong2* c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int4 v = a[i], w = __ldg(b + i);
        a[i] = make_int4(v.x + w.x, v.y + w.y, v.z + w.z, v.w + w.w);
        c[i] = make_longlong2((long long)v.x * w.x, __mul64hi(v.y, w.y));
    }
}
void run(uchar4* a, uchar4* b, unsigned* o, int* x, int* y, int n) {
    sumOfAbsoluteDifferences<<<(n + 255) / 256, 256>>>(a, b, o, n);
    dot8<<<(n + 255) / 256, 256>>>(x, y, x, n);
    bits<<<(n + 255) / 256, 256>>>(o, (uint2*)x, n);
    addInt4<<<4, 64>>>((int4*)x, (int4*)y, (longlong2*)o, n / 16);
}
