// Searches that ask one element after the other, as resampling and table look-ups do.
#include <cstdio>
#include <vector>

__global__ void resample(const double* cumulative, const double* points, int* chosen, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count)
        return;
    int k;
    for (k = 0; k < count; ++k) {
        if (cumulative[k] >= points[i])
            break;
    }
    chosen[i] = k < count ? k : count - 1;
}

__global__ void firstPair(const int* keys, const int* flags, int* places, int count, int wanted) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < wanted) {
        places[i] = -1;
        unsigned k = 1;
        while (k < count) {
            const int key = keys[k];
            if (key % wanted == i && (flags[k] & 1) != 0) {
                places[i] = static_cast<int>(k);
                return;
            }
            k += 2;
        }
    }
}

int main() {
    constexpr int count = 700;
    std::vector<double> cumulative(count), points(count);
    std::vector<int> keys(count), flags(count);
    for (int i = 0; i < count; ++i) {
        cumulative[i] = (i + 1.0) / count;
        points[i] = (i * 37 % count + 0.5) / count;
        keys[i] = i * 31 % 101;
        flags[i] = i % 3;
    }
    double *deviceCumulative, *devicePoints;
    int *deviceKeys, *deviceFlags, *chosen, *places;
    cudaMalloc(&deviceCumulative, count * sizeof(double));
    cudaMalloc(&devicePoints, count * sizeof(double));
    cudaMalloc(&deviceKeys, count * sizeof(int));
    cudaMalloc(&deviceFlags, count * sizeof(int));
    cudaMalloc(&chosen, count * sizeof(int));
    cudaMalloc(&places, 96 * sizeof(int));
    cudaMemcpy(deviceCumulative, cumulative.data(), count * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(devicePoints, points.data(), count * sizeof(double), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceKeys, keys.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    cudaMemcpy(deviceFlags, flags.data(), count * sizeof(int), cudaMemcpyHostToDevice);
    resample<<<(count + 127) / 128, 128>>>(deviceCumulative, devicePoints, chosen, count);
    firstPair<<<1, 96>>>(deviceKeys, deviceFlags, places, count, 96);
    std::vector<int> result(96);
    cudaMemcpy(result.data(), places, 96 * sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\n", result[5]);
}
