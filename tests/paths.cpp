#include "tests/paths.h"

namespace kernelskill::paths {

const char* const sourceFolder = KERNELSKILL_SOURCE_DIR;
const char* const buildFolder = KERNELSKILL_BINARY_DIR;
const char* const imageFolder = KERNELSKILL_BINARY_DIR "/test-images";
const char* const compileWorker = KERNELSKILL_TEST_COMPILE_WORKER;
const char* const testRunner = KERNELSKILL_TEST_RUNNER;
const char* const testWorker = KERNELSKILL_TEST_WORKER;
const char* const gpuRunner = KERNELSKILL_RUNNER;
const char* const captureLibrary = KERNELSKILL_CAPTURE_LIBRARY;
const char* const fakeGpuFolder = KERNELSKILL_FAKE_GPU;
const char* const fakeCaptureProgram = KERNELSKILL_FAKE_CAPTURE_PROGRAM;
const char* const timelineRecorder = KERNELSKILL_RECORDER;
const char* const fakeCupti = KERNELSKILL_FAKE_CUPTI;
const char* const fakeTimelineProgram = KERNELSKILL_FAKE_TIMELINE_PROGRAM;
const char* const torchProgram = KERNELSKILL_TORCH;

} // namespace kernelskill::paths
