/// Texture and surface functions: parsed, and refused by the emulator.
#pragma once

#include "kernelskill/standard_library.h"
#include "texture_types.h"
#include "vector_types.h"

#define KS_REFUSED(feature) KS_BODY({ ks_refuse(feature); })

#define KS_FETCH(name, ...)                                                                        \
    template <class T> KS_DEVICE T name(cudaTextureObject_t, __VA_ARGS__) KS_REFUSED("textures") \
    template <class T> KS_DEVICE void name(T*, cudaTextureObject_t, __VA_ARGS__)     \
        KS_REFUSED("textures")
KS_FETCH(tex1Dfetch, int)
KS_FETCH(tex1D, float)
KS_FETCH(tex1DLod, float, float)
KS_FETCH(tex1DGrad, float, float, float)
KS_FETCH(tex1DLayered, float, int)
KS_FETCH(tex2D, float, float)
KS_FETCH(tex2DLod, float, float, float)
KS_FETCH(tex2DGrad, float, float, float2, float2)
KS_FETCH(tex2Dgather, float, float, int)
KS_FETCH(tex2DLayered, float, float, int)
KS_FETCH(tex3D, float, float, float)
KS_FETCH(tex3DLod, float, float, float, float)
KS_FETCH(tex3DGrad, float, float, float, float4, float4)
KS_FETCH(texCubemap, float, float, float)
KS_FETCH(texCubemapLod, float, float, float, float)
KS_FETCH(texCubemapLayered, float, float, float, int)
#undef KS_FETCH

#define KS_SURFACE(dimension, ...)                                                                 \
    template <class T>                                                                             \
    KS_DEVICE T surf##dimension##read(cudaSurfaceObject_t, __VA_ARGS__,                     \
                                      cudaSurfaceBoundaryMode = cudaBoundaryModeTrap)         \
        KS_REFUSED("surfaces")                                                                     \
    template <class T>                                                                             \
    KS_DEVICE void surf##dimension##read(T*, cudaSurfaceObject_t, __VA_ARGS__,       \
                                         cudaSurfaceBoundaryMode = cudaBoundaryModeTrap)      \
        KS_REFUSED("surfaces")                                                                     \
    template <class T>                                                                             \
    KS_DEVICE void surf##dimension##write(T, cudaSurfaceObject_t, __VA_ARGS__,        \
                                          cudaSurfaceBoundaryMode = cudaBoundaryModeTrap)     \
        KS_REFUSED("surfaces")
KS_SURFACE(1D, int)
KS_SURFACE(2D, int, int)
KS_SURFACE(3D, int, int, int)
KS_SURFACE(1DLayered, int, int)
KS_SURFACE(2DLayered, int, int, int)
KS_SURFACE(Cubemap, int, int, int)
#undef KS_SURFACE
