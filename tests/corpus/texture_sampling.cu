// Bilinear sampling through a texture object, and a surface written.
#include <cuda_runtime.h>
#include <string.h>
__global__ void rotate(float* out, cudaTextureObject_t texture, int width, int height, float angle) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float u = x / (float)width - 0.5f, v = y / (float)height - 0.5f;
    out[y * width + x] = tex2D<float>(texture, u * cosf(angle) - v * sinf(angle) + 0.5f, v * cosf(angle) + u * sinf(angle) + 0.5f);
}
__global__ void writeSurface(cudaSurfaceObject_t surface, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        surf2Dwrite(make_float4(x, y, 0, 1), surface, x * (int)sizeof(float4), y);
}
void sample(float* out, int width, int height) {
    cudaChannelFormatDesc desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray* array;
    cudaMallocArray(&array, &desc, width, height);
    cudaResourceDesc resource;
    memset(&resource, 0, sizeof(resource));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc description = {};
    description.normalizedCoords = true;
    description.filterMode = cudaFilterModeLinear;
    description.addressMode[0] = cudaAddressModeWrap;
    description.readMode = cudaReadModeElementType;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &description, NULL);
    rotate<<<dim3(width / 8, height / 8), dim3(8, 8)>>>(out, texture, width, height, 0.5f);
    cudaSurfaceObject_t surface;
    cudaCreateSurfaceObject(&surface, &resource);
    writeSurface<<<dim3(width / 8, height / 8), dim3(8, 8)>>>(surface, width, height);
}
