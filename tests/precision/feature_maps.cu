// Layers of a convolutional network over planes: batch, channel, row, column.
#include <cfloat>
#include <cuda_runtime.h>

#define CUDA_1D_KERNEL_LOOP(i, n) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += blockDim.x * gridDim.x)

template <typename T>
__global__ void maxPool(const int outputs, const T* bottom, T* top, const int channels, const int height, const int width,
                        const int pooledHeight, const int pooledWidth, const int kernel, const int stride) {
  CUDA_1D_KERNEL_LOOP(index, outputs) {
    int pw = index % pooledWidth;
    int ph = (index / pooledWidth) % pooledHeight;
    int c = index / pooledWidth / pooledHeight;
    T best = -FLT_MAX;
    for (int h = ph * stride; h < min(ph * stride + kernel, height); ++h) {
      for (int w = pw * stride; w < min(pw * stride + kernel, width); ++w) {
        best = max(best, bottom[(c * height + h) * width + w]);
      }
    }
    top[index] = best;
  }
}

__global__ void globalAveragePool(const float* in, float* out, int planes, int area) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < planes) {
    float sum = 0;
    for (int i = 0; i < area; ++i) {
      sum += in[p * area + i];
    }
    out[p] = sum / area;
  }
}

__global__ void upsampleNearest(const float* in, float* out, int planes, int height, int width, int factor) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int p = blockIdx.z;
  if (x < width * factor && y < height * factor && p < planes) {
    out[(p * height * factor + y) * width * factor + x] = in[(p * height + y / factor) * width + x / factor];
  }
}

__global__ void im2col(const int n, const float* image, const int height, const int width, const int kernel, const int pad,
                       const int outHeight, const int outWidth, float* columns) {
  CUDA_1D_KERNEL_LOOP(index, n) {
    int w = index % outWidth;
    int h = (index / outWidth) % outHeight;
    int channel = index / outWidth / outHeight;
    for (int i = 0; i < kernel; ++i) {
      for (int j = 0; j < kernel; ++j) {
        int y = h + i - pad, x = w + j - pad;
        float v = (y >= 0 && x >= 0 && y < height && x < width) ? image[(channel * height + y) * width + x] : 0.f;
        columns[((channel * kernel + i) * kernel + j) * outHeight * outWidth + h * outWidth + w] = v;
      }
    }
  }
}

__global__ void depthwise3x3(const float* in, const float* filter, float* out, int channels, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.z;
  if (x >= width || y >= height)
    return;
  float sum = 0;
#pragma unroll
  for (int dy = 0; dy < 3; dy++) {
#pragma unroll
    for (int dx = 0; dx < 3; dx++) {
      int yy = y + dy - 1, xx = x + dx - 1;
      if (yy >= 0 && yy < height && xx >= 0 && xx < width)
        sum += in[(c * height + yy) * width + xx] * filter[c * 9 + dy * 3 + dx];
    }
  }
  out[(c * height + y) * width + x] = sum;
}

__global__ void batchNormInference(float* data, const float* mean, const float* variance, const float* gain, const float* bias,
                                   int channels, int area) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < channels * area) {
    int c = i / area;
    data[i] = (data[i] - mean[c]) / sqrtf(variance[c] + 1e-5f) * gain[c] + bias[c];
  }
}

__global__ void channelShuffle(const float* in, float* out, int groups, int perGroup, int area) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= groups * perGroup * area)
    return;
  int pixel = i % area;
  int channel = i / area;
  int to = (channel % perGroup) * groups + channel / perGroup;
  out[to * area + pixel] = in[i];
}

__global__ void reflectPad(const float* in, float* out, int height, int width, int pad) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int outWidth = width + 2 * pad;
  if (x < outWidth && y < height + 2 * pad) {
    int sx = abs(x - pad);
    int sy = abs(y - pad);
    sx = sx >= width ? 2 * width - 2 - sx : sx;
    sy = sy >= height ? 2 * height - 2 - sy : sy;
    out[y * outWidth + x] = in[sy * width + sx];
  }
}

// From planes to pixels: channels become neighbours.
__global__ void planesToPixels(const float* planes, float* pixels, int channels, int area) {
  int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  if (pixel < area)
    for (int c = 0; c < channels; c++)
      pixels[pixel * channels + c] = planes[c * area + pixel];
}

void layers(float* a, float* b, float* c, double* d) {
  maxPool<float><<<8, 256>>>(8 * 15 * 15, a, b, 8, 31, 31, 15, 15, 3, 2);
  maxPool<double><<<8, 256>>>(8 * 15 * 15, d, d + 100000, 8, 31, 31, 15, 15, 3, 2);
  globalAveragePool<<<2, 64>>>(a, b, 128, 100);
  upsampleNearest<<<dim3(2, 8, 6), dim3(32, 8)>>>(a, b, 6, 30, 30, 2);
  im2col<<<16, 256>>>(4 * 30 * 30, a, 30, 30, 3, 1, 30, 30, b);
  depthwise3x3<<<dim3(3, 4, 8), dim3(16, 8)>>>(a, b, c, 8, 30, 40);
  batchNormInference<<<(16 * 400 + 255) / 256, 256>>>(a, b, c, b, c, 16, 400);
  channelShuffle<<<(12 * 300 + 127) / 128, 128>>>(a, b, 3, 4, 300);
  reflectPad<<<dim3(3, 9), dim3(32, 8)>>>(a, b, 60, 70, 4);
  planesToPixels<<<(900 + 127) / 128, 128>>>(a, b, 12, 900);
}
