// Kernels that never end, and one whose blocks take long.

__global__ void spinsOnMemory(volatile int* flag, int* out) {
    while (*flag != 12345)
        ;
    *out = 1;
}

__global__ void spinsOnNothing(int* out) {
    for (volatile int i = 0; i >= 0; i = (i + 1) & 0xff)
        ;
    *out = 1;
}

__global__ void readsForever(const float* in, float* out, int n) {
    for (int i = 0; n > 0; i = (i + 1) % n)
        *out += in[i];
}

__global__ void takesLong(float* out, int rounds) {
    for (int i = 0; i < rounds; ++i)
        out[threadIdx.x] += 1;
}

extern "C" void ks_entry(void** a) {
    switch (*static_cast<int*>(a[0])) {
    case 0:
        return spinsOnMemory(*(volatile int**)a[1], *(int**)a[2]);
    case 1:
        return spinsOnNothing(*(int**)a[1]);
    case 2:
        return readsForever(*(const float**)a[1], *(float**)a[2], *(int*)a[3]);
    case 3:
        return takesLong(*(float**)a[1], *(int*)a[2]);
    }
}
