/// NVRTC.
#pragma once
#define __NVRTC_H__

#include "kernelskill/host_library.h"

typedef struct _nvrtcProgram* nvrtcProgram;
typedef enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_OUT_OF_MEMORY = 1, NVRTC_ERROR_COMPILATION = 6 } nvrtcResult;
KS_LIBRARY const char* nvrtcGetErrorString(nvrtcResult result);
KS_LIBRARY nvrtcResult nvrtcVersion(int* major, int* minor);
KS_LIBRARY nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                                          const char* const* texts, const char* const* names);
KS_LIBRARY nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program);
KS_LIBRARY nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options);
KS_LIBRARY nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes);
KS_LIBRARY nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* text);
KS_LIBRARY nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes);
KS_LIBRARY nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image);
KS_LIBRARY nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes);
KS_LIBRARY nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* text);
KS_LIBRARY nvrtcResult nvrtcAddNameExpression(nvrtcProgram program, const char* expression);
KS_LIBRARY nvrtcResult nvrtcGetLoweredName(nvrtcProgram program, const char* expression, const char** name);
