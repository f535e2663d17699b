/// Names the folders and programs that tests read and start. One object alone holds their paths, so
/// that ccache can give one checkout what it compiled for another.
#pragma once

namespace kernelskill::paths {

extern const char* const sourceFolder; ///< The root of the repository.
extern const char* const buildFolder;
extern const char* const
    imageFolder; ///< It has the kernels that were compiled for the emulator's tests.

extern const char* const compileWorker;
extern const char* const testRunner; ///< It stands in for the GPU's runner.
extern const char* const testWorker;

// These are empty where they are not built.
extern const char* const gpuRunner;
extern const char* const captureLibrary;
extern const char* const
    fakeGpuFolder; ///< It has a libcuda.so that needs no GPU, and programs for it.
extern const char* const fakeCaptureProgram;
extern const char* const timelineRecorder;
extern const char* const fakeCupti;
extern const char* const fakeTimelineProgram;
extern const char* const torchProgram;

} // namespace kernelskill::paths
