#include "engine/static_facts/device_headers.h"

#include <algorithm>
#include <array>
#include <string>
#include <system_error>

namespace kernelskill::engine {
namespace {

namespace fs = std::filesystem;

/// The parts of C's and C++'s headers that nvcc has read before a file's first line, and a few
/// macros that device code takes from others. Each function calls CUDA's own, so that the machine
/// code is the same as nvcc's.
constexpr std::string_view baseHeader = R"(#pragma once
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
using intmax_t = int64_t;
using uintmax_t = uint64_t;
using uint = unsigned int;
using ushort = unsigned short;
using ulong = unsigned long;

#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MIN (-LONG_MAX - 1L)
#define LONG_MAX 9223372036854775807L
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MIN (-LLONG_MAX - 1LL)
#define LLONG_MAX 9223372036854775807LL
#define ULLONG_MAX 18446744073709551615ULL
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define SIZE_MAX ULLONG_MAX
#define FLT_MIN 1.17549435082228750796873653722224568e-38F
#define FLT_MAX 3.40282346638528859811704183484516925e+38F
#define FLT_EPSILON 1.19209289550781250000000000000000000e-7F
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define DBL_MIN 2.22507385850720138309023271733240406e-308
#define DBL_MAX 1.79769313486231570814527423731704357e+308
#define DBL_EPSILON 2.22044604925031308084726333618164062e-16
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#ifndef NULL
#define NULL 0
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef HUGE_VALF
#define HUGE_VALF INFINITY
#endif
#ifndef HUGE_VAL
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000LL)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif

// If a function takes floating point, an integer or a mixed pair becomes a double.
namespace kernelskill {
template <typename T> struct Arithmetic {};
template <> struct Arithmetic<float> { using Promoted = float; };
template <> struct Arithmetic<double> { using Promoted = double; };
template <typename T> struct Integral {};
#define KERNELSKILL_INTEGRAL(type)                                                                 \
    template <> struct Arithmetic<type> { using Promoted = double; };                              \
    template <> struct Integral<type> { using Promoted = double; };
KERNELSKILL_INTEGRAL(bool)
KERNELSKILL_INTEGRAL(char)
KERNELSKILL_INTEGRAL(signed char)
KERNELSKILL_INTEGRAL(unsigned char)
KERNELSKILL_INTEGRAL(short)
KERNELSKILL_INTEGRAL(unsigned short)
KERNELSKILL_INTEGRAL(int)
KERNELSKILL_INTEGRAL(unsigned int)
KERNELSKILL_INTEGRAL(long)
KERNELSKILL_INTEGRAL(unsigned long)
KERNELSKILL_INTEGRAL(long long)
KERNELSKILL_INTEGRAL(unsigned long long)
#undef KERNELSKILL_INTEGRAL
template <typename A, typename B> struct Mixed {
    using Promoted = decltype(typename Arithmetic<A>::Promoted() + typename Arithmetic<B>::Promoted());
};
template <> struct Mixed<float, float> {};
template <> struct Mixed<double, double> {};
} // namespace kernelskill
#define KERNELSKILL_UNARY(name)                                                                    \
    template <typename T>                                                                          \
    __device__ __forceinline__ typename kernelskill::Integral<T>::Promoted name(T x) {             \
        return name(static_cast<double>(x));                                                       \
    }
#define KERNELSKILL_BINARY(name)                                                                   \
    template <typename A, typename B>                                                              \
    __device__ __forceinline__ typename kernelskill::Mixed<A, B>::Promoted name(A a, B b) {        \
        using Promoted = typename kernelskill::Mixed<A, B>::Promoted;                              \
        return name(static_cast<Promoted>(a), static_cast<Promoted>(b));                           \
    }
KERNELSKILL_UNARY(acos)
KERNELSKILL_UNARY(asin)
KERNELSKILL_UNARY(atan)
KERNELSKILL_UNARY(cbrt)
KERNELSKILL_UNARY(ceil)
KERNELSKILL_UNARY(cos)
KERNELSKILL_UNARY(cosh)
KERNELSKILL_UNARY(erf)
KERNELSKILL_UNARY(exp)
KERNELSKILL_UNARY(exp2)
KERNELSKILL_UNARY(fabs)
KERNELSKILL_UNARY(floor)
KERNELSKILL_UNARY(log)
KERNELSKILL_UNARY(log10)
KERNELSKILL_UNARY(log1p)
KERNELSKILL_UNARY(log2)
KERNELSKILL_UNARY(round)
KERNELSKILL_UNARY(sin)
KERNELSKILL_UNARY(sinh)
KERNELSKILL_UNARY(sqrt)
KERNELSKILL_UNARY(tan)
KERNELSKILL_UNARY(tanh)
KERNELSKILL_UNARY(trunc)
KERNELSKILL_BINARY(atan2)
KERNELSKILL_BINARY(copysign)
KERNELSKILL_BINARY(fdim)
KERNELSKILL_BINARY(fmax)
KERNELSKILL_BINARY(fmin)
KERNELSKILL_BINARY(fmod)
KERNELSKILL_BINARY(hypot)
KERNELSKILL_BINARY(pow)
#undef KERNELSKILL_UNARY
#undef KERNELSKILL_BINARY
// NVRTC's own overload for this pair multiplies; the standard library's promotes.
__device__ __forceinline__ double pow(double base, int exponent) {
    return pow(base, static_cast<double>(exponent));
}

namespace std {
using ::size_t;
using ::ptrdiff_t;
using nullptr_t = decltype(nullptr);
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t; using ::intmax_t; using ::uintmax_t;
using ::abs; using ::acos; using ::acosh; using ::asin; using ::asinh; using ::atan; using ::atan2;
using ::atanh; using ::cbrt; using ::ceil; using ::copysign; using ::cos; using ::cosh; using ::erf;
using ::erfc; using ::exp; using ::exp2; using ::expm1; using ::fabs; using ::fdim; using ::floor;
using ::fma; using ::fmax; using ::fmin; using ::fmod; using ::frexp; using ::hypot; using ::ilogb;
using ::isfinite; using ::isinf; using ::isnan; using ::labs; using ::ldexp; using ::lgamma;
using ::llabs; using ::llrint; using ::llround; using ::log; using ::log10; using ::log1p;
using ::log2; using ::logb; using ::lrint; using ::lround; using ::modf; using ::nearbyint;
using ::nextafter; using ::pow; using ::remainder; using ::remquo; using ::rint; using ::round;
using ::scalbln; using ::scalbn; using ::signbit; using ::sin; using ::sinh; using ::sqrt; using ::tan;
using ::tanh; using ::tgamma; using ::trunc;
using ::clock; using ::clock_t; using ::free; using ::malloc; using ::memcpy; using ::memset;
using ::printf;
template <typename T>
__device__ constexpr const T& max(const T& a, const T& b) { return a < b ? b : a; }
template <typename T>
__device__ constexpr const T& min(const T& a, const T& b) { return b < a ? b : a; }
template <typename T>
__device__ constexpr const T& clamp(const T& x, const T& low, const T& high) {
    return x < low ? low : high < x ? high : x;
}
template <typename T>
__device__ constexpr void swap(T& a, T& b) {
    T old = static_cast<T&&>(a);
    a = static_cast<T&&>(b);
    b = static_cast<T&&>(old);
}
} // namespace std
)";

/// The base header has their contents.
constexpr auto baseHeaders = std::to_array<std::string_view>(
    {"algorithm",  "assert.h", "cassert",  "cfloat",   "cinttypes",       "climits",  "cmath",
     "cstddef",    "cstdint",  "cstdio",   "cstdlib",  "cstring",         "ctime",    "float.h",
     "inttypes.h", "limits.h", "math.h",   "memory.h", "stdbool.h",       "stddef.h", "stdint.h",
     "stdio.h",    "stdlib.h", "string.h", "time.h",   "initializer_list"});

/// libcu++ has these headers, and they compile to the same code as the standard library's.
/// <complex> and <atomic> are missing, because their algorithms differ.
constexpr auto standardHeaders = std::to_array<std::string_view>(
    {"array", "bit", "concepts", "functional", "iterator", "limits", "numbers", "numeric",
     "optional", "ratio", "span", "tuple", "type_traits", "utility"});

/// CUB without the parts that host code calls, which NVRTC refuses.
constexpr std::string_view cubHeader = R"(#pragma once
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
)";

/// Prefixes of headers that only host code needs and that NVRTC cannot read.
constexpr auto hostOnly = std::to_array<std::string_view>(
    {"cublas",   "cuda.h", "cudaGL",  "cudaProfiler", "cuda_gl_interop",    "cuda_profiler_api",
     "cudnn",    "cufft",  "cupti",   "curand.h",     "curand_mtgp32_host", "cusolver",
     "cusparse", "nccl",   "npp",     "nvJitLink",    "nvToolsExt",         "nvml",
     "nvrtc",    "nvtx3/", "thrust/", "cub/device/",  "cub/util_allocator"});

std::string overLibcudacxx(std::string_view name) {
    const auto path = "<cuda/std/" + std::string(name) + ">";
    return "#pragma once\n#include " + path + "\nnamespace std { using namespace ::cuda::std; }\n";
}

} // namespace

const std::vector<analysis::VirtualHeader>& deviceHeaders() {
    static const std::vector<analysis::VirtualHeader> headers = [] {
        std::vector<analysis::VirtualHeader> result;
        result.push_back({std::string(baseHeaderName), std::string(baseHeader)});
        for (const auto name : baseHeaders)
            result.push_back({std::string(name), "#pragma once\n"});
        for (const auto name : standardHeaders)
            result.push_back({std::string(name), overLibcudacxx(name)});
        result.push_back({"cub/cub.cuh", std::string(cubHeader)});
        return result;
    }();
    return headers;
}

std::vector<fs::path> toolkitIncludeFolders(const analysis::CudaToolkit& toolkit) {
    std::vector<fs::path> candidates = {toolkit.root / "include"};
    std::error_code error;
    for (fs::directory_iterator item(toolkit.root / "targets", error), end; !error && item != end;
         item.increment(error))
        candidates.push_back(item->path() / "include");
    for (const auto& folder : candidates) {
        std::error_code ignored;
        if (!fs::is_regular_file(folder / "cuda_runtime.h", ignored))
            continue;
        if (fs::is_directory(folder / "cccl", ignored))
            return {folder, folder / "cccl"};
        return {folder};
    }
    return {};
}

DeviceIncludeRules::DeviceIncludeRules(std::vector<fs::path> folders, DeviceHeaderBreadth breadth)
    : folders_(std::move(folders)), breadth_(breadth) {}

bool DeviceIncludeRules::keeps(const IncludeLine& line) const {
    if (line.spelling.empty() || !line.resolved.empty())
        return true;
    const auto name = std::string_view(line.spelling).substr(1, line.spelling.size() - 2);
    if (std::ranges::find(deviceHeaders(), name, &analysis::VirtualHeader::name) !=
        deviceHeaders().end())
        return true;
    const bool forHost =
        std::ranges::any_of(hostOnly, [&](auto prefix) { return name.starts_with(prefix); });
    if (breadth_ == DeviceHeaderBreadth::DeviceCode && forHost)
        return false;
    return std::ranges::any_of(folders_, [&](const auto& folder) {
        std::error_code ignored;
        return fs::is_regular_file(folder / name, ignored);
    });
}

} // namespace kernelskill::engine
