// A thousand steps of a few microseconds each: the GPU waits for the next launch.
#include <cuda_runtime.h>
#include <utility>

__global__ void heatStep(const float* from, float* to, float rate, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        to[i] = from[i] + rate * (from[i - 1] - 2.0f * from[i] + from[i + 1]);
}

void diffuse(float* now, float* next, int n) {
    // An even number of steps: the result is in now.
    // 20 rounds are captured once and replayed as one launch.
    cudaStream_t capturing;
    cudaStreamCreateWithFlags(&capturing, cudaStreamNonBlocking);
    cudaStreamBeginCapture(capturing, cudaStreamCaptureModeThreadLocal);
    for (int step = 0; step < 20; ++step) {
        heatStep<<<(n + 255) / 256, 256, 0, capturing>>>(now, next, 0.1f, n);
        std::swap(now, next);
    }
    cudaGraph_t graph;
    cudaStreamEndCapture(capturing, &graph);
    cudaGraphExec_t replay;
    cudaGraphInstantiateWithFlags(&replay, graph, 0);
    for (int step = 0; step < 1000 / 20; ++step)
        cudaGraphLaunch(replay, 0);
    cudaStreamSynchronize(0);
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
    cudaStreamDestroy(capturing);
}
