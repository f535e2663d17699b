#include "engine/repair/compile_fixes/header_table.h"

#include <algorithm>
#include <array>
#include <set>

namespace kernelskill::engine {
namespace {

enum class Scope : unsigned char { Either, Std, Global };

struct Row {
    std::string_view header;
    Scope scope;
    std::string_view names; ///< Separated by spaces; a trailing '*' matches any rest.
};

constexpr std::array<Row, 56> rows{{
    {"cstdio", Scope::Either,
     "printf fprintf sprintf snprintf puts fputs putchar scanf sscanf fopen fclose fread fwrite "
     "fgets FILE "
     "stdout stderr stdin perror getchar fflush fscanf vprintf"},
    {"cstdlib", Scope::Either,
     "malloc calloc realloc free exit abort atoi atof atol strtol strtod strtof strtoul rand srand "
     "getenv "
     "qsort EXIT_SUCCESS EXIT_FAILURE RAND_MAX system div"},
    {"cstring", Scope::Either,
     "memcpy memset memcmp memmove strlen strcmp strncmp strcpy strncpy strcat strstr strchr "
     "strrchr strtok "
     "strdup strerror"},
    {"cfloat", Scope::Global,
     "FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON FLT_* DBL_* LDBL_*"},
    {"climits", Scope::Global,
     "INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX CHAR_BIT CHAR_MAX SHRT_MAX LLONG_MAX "
     "LLONG_MIN"},
    {"cmath", Scope::Either,
     "sqrt pow exp log fabs sin cos tan floor ceil round isnan isinf M_PI INFINITY NAN HUGE_VAL "
     "fmin fmax hypot"},
    {"cassert", Scope::Global, "assert"},
    {"cstdint", Scope::Either,
     "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t intptr_t "
     "INT32_MAX "
     "UINT32_MAX INT64_MAX UINT64_MAX UINT8_MAX UINT16_MAX INT16_MAX INT8_MAX"},
    {"cstddef", Scope::Either, "size_t ptrdiff_t nullptr_t max_align_t offsetof byte NULL"},
    {"ctime", Scope::Either,
     "time clock time_t clock_t CLOCKS_PER_SEC difftime localtime strftime"},
    {"iostream", Scope::Std, "cout cerr cin endl clog"},
    {"iomanip", Scope::Std, "setw setprecision setfill fixed put_time"},
    {"fstream", Scope::Std, "ifstream ofstream fstream"},
    {"sstream", Scope::Std, "stringstream ostringstream istringstream"},
    {"string", Scope::Std, "string to_string stoi stof stod getline wstring"},
    {"string_view", Scope::Std, "string_view"},
    {"vector", Scope::Std, "vector"},
    {"array", Scope::Std, "array"},
    {"map", Scope::Std, "map multimap"},
    {"unordered_map", Scope::Std, "unordered_map"},
    {"set", Scope::Std, "set multiset"},
    {"unordered_set", Scope::Std, "unordered_set"},
    {"deque", Scope::Std, "deque"},
    {"queue", Scope::Std, "queue priority_queue"},
    {"algorithm", Scope::Std,
     "sort stable_sort max min max_element min_element fill fill_n copy transform find find_if "
     "generate "
     "reverse shuffle swap clamp lower_bound upper_bound equal count count_if all_of any_of "
     "for_each unique"},
    {"numeric", Scope::Std, "iota accumulate inner_product reduce partial_sum gcd lcm"},
    {"limits", Scope::Std, "numeric_limits"},
    {"random", Scope::Std,
     "mt19937 mt19937_64 uniform_real_distribution uniform_int_distribution normal_distribution "
     "random_device "
     "default_random_engine"},
    {"chrono", Scope::Std, "chrono"},
    {"memory", Scope::Std, "unique_ptr shared_ptr make_unique make_shared weak_ptr"},
    {"functional", Scope::Std, "function plus bind less greater multiplies"},
    {"utility", Scope::Std, "pair move forward make_pair exchange"},
    {"tuple", Scope::Std, "tuple make_tuple tie get"},
    {"type_traits", Scope::Std,
     "is_same is_same_v enable_if enable_if_t conditional_t is_floating_point is_integral "
     "is_integral_v "
     "is_floating_point_v remove_cv_t decay_t true_type false_type"},
    {"stdexcept", Scope::Std, "runtime_error logic_error invalid_argument out_of_range"},
    {"thread", Scope::Std, "thread this_thread"},
    {"mutex", Scope::Std, "mutex lock_guard unique_lock scoped_lock"},
    {"atomic", Scope::Std, "atomic"},
    {"optional", Scope::Std, "optional nullopt"},
    {"complex", Scope::Std, "complex"},
    {"cooperative_groups.h", Scope::Global, "cooperative_groups cg"},
    {"cooperative_groups/reduce.h", Scope::Global, "cooperative_groups::reduce"},
    {"cuda_fp16.h", Scope::Global,
     "half half2 __half __half2 __float2half __half2float __hadd __hmul __hfma __hadd2 __hmul2 "
     "__hfma2 "
     "__float2half_rn __half22float2 __float22half2_rn __halves2half2 __low2float __high2float "
     "__hsub __hgt __half2float2 __ushort_as_half __half_as_ushort hexp* hsqrt hrsqrt hlog* h2*"},
    {"cuda_bf16.h", Scope::Global,
     "__nv_bfloat16 __nv_bfloat162 nv_bfloat16 nv_bfloat162 __float2bfloat16 __bfloat162float "
     "__float2bfloat16_rn __floats2bfloat162_rn"},
    {"cooperative_groups/memcpy_async.h", Scope::Global,
     "cooperative_groups::memcpy_async cooperative_groups::wait cooperative_groups::wait_prior"},
    {"mma.h", Scope::Global, "nvcuda wmma"},
    {"curand_kernel.h", Scope::Global,
     "curandState curandState_t curandStateXORWOW_t curandStateMRG32k3a_t "
     "curandStatePhilox4_32_10_t curandStateSobol32_t curand_* curand"},
    {"curand.h", Scope::Global, "curandGenerator_t curandGenerate* curandCreate* CURAND_*"},
    {"cuComplex.h", Scope::Global,
     "cuComplex cuFloatComplex cuDoubleComplex make_cu* cuCadd* cuCmul* cuCsub* cuCdiv* cuCabs* "
     "cuCreal* cuCimag* cuConj*"},
    {"math_constants.h", Scope::Global, "CUDART_*"},
    {"cuda_pipeline.h", Scope::Global, "__pipeline_*"},
    {"cublas_v2.h", Scope::Global, "cublas* CUBLAS_*"},
    {"cufft.h", Scope::Global, "cufft* CUFFT_*"},
    {"cusparse.h", Scope::Global, "cusparse* CUSPARSE_*"},
    {"cuda_fp8.h", Scope::Global, "__nv_fp8_*"},
    {"cuda_runtime.h", Scope::Global,
     "cudaMalloc cudaFree cudaMemcpy cudaDeviceSynchronize cudaError_t cudaStream_t cudaEvent_t "
     "cudaGetLastError cudaGetErrorString"},
}};

bool isListed(std::string_view names, std::string_view wanted) {
    while (!names.empty()) {
        std::string_view name = names.substr(0, names.find(' '));
        names.remove_prefix(std::min(names.size(), name.size() + 1));
        bool isPrefix = name.ends_with('*') && wanted.starts_with(name.substr(0, name.size() - 1));
        if (name == wanted || isPrefix)
            return true;
    }
    return false;
}

} // namespace

std::vector<std::string_view> headersFor(std::string_view name, bool isInStd) {
    std::vector<std::string_view> headers;
    for (const Row& row : rows) {
        bool isInScope = row.scope == Scope::Either || (row.scope == Scope::Std) == isInStd;
        if (isInScope && isListed(row.names, name))
            headers.push_back(row.header);
    }
    return headers;
}

std::vector<std::string_view> commonHeaders() {
    std::set<std::string_view> headers{
        "stdio.h", "stdlib.h",           "string.h",
        "math.h",  "stdint.h",           "assert.h",
        "float.h", "limits.h",           "time.h",
        "cuda.h",  "cuda_runtime_api.h", "device_launch_parameters.h",
    };
    for (const Row& row : rows)
        headers.insert(row.header);
    return {headers.begin(), headers.end()};
}

} // namespace kernelskill::engine
