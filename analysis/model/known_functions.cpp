#include "analysis/model/known_functions.h"

#include <algorithm>
#include <array>

namespace kernelskill::analysis {

namespace {

template <std::size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

constexpr auto simpleMath = std::to_array<std::string_view>(
    {"abs",      "fabs",      "fabsf",     "min",       "max",       "fmin",      "fminf",
     "fmax",     "fmaxf",     "fma",       "fmaf",      "floor",     "floorf",    "ceil",
     "ceilf",    "trunc",     "truncf",    "round",     "roundf",    "rint",      "rintf",
     "copysign", "copysignf", "__fmaf_rn", "__fadd_rn", "__fmul_rn", "__fsub_rn", "__saturatef",
     "__hadd",   "__hmul",    "__hfma",    "__hsub",    "__hadd2",   "__hmul2",   "__hfma2",
     "__hsub2",  "__hmax",    "__hmin",    "isnan",     "isinf"});

constexpr auto specialMath = std::to_array<std::string_view>(
    {"sqrt",      "sqrtf",      "rsqrt",       "rsqrtf",    "cbrt",      "cbrtf",      "rcbrtf",
     "sin",       "sinf",       "cos",         "cosf",      "tan",       "tanf",       "sincos",
     "sincosf",   "sinpi",      "sinpif",      "cospi",     "cospif",    "asin",       "asinf",
     "acos",      "acosf",      "atan",        "atanf",     "atan2",     "atan2f",     "sinh",
     "sinhf",     "cosh",       "coshf",       "tanh",      "tanhf",     "exp",        "expf",
     "exp2",      "exp2f",      "exp10",       "exp10f",    "expm1",     "expm1f",     "log",
     "logf",      "log2",       "log2f",       "log10",     "log10f",    "log1p",      "log1pf",
     "pow",       "powf",       "fmod",        "fmodf",     "remainder", "remainderf", "erf",
     "erff",      "erfc",       "erfcf",       "tgamma",    "tgammaf",   "lgamma",     "lgammaf",
     "hypot",     "hypotf",     "fdividef",    "__expf",    "__exp10f",  "__logf",     "__log2f",
     "__log10f",  "__powf",     "__sinf",      "__cosf",    "__tanf",    "__sincosf",  "__fdividef",
     "__frcp_rn", "__fsqrt_rn", "__frsqrt_rn", "__fdiv_rn", "hexp",      "hlog",       "hsqrt",
     "hrsqrt",    "hsin",       "hcos",        "h2exp",     "h2log",     "h2sqrt",     "norm3df",
     "rnorm3df",  "normcdff",   "erfinvf"});

} // namespace

std::string_view unqualified(std::string_view name) {
    const auto colons = name.rfind("::");
    return colons == std::string_view::npos ? name : name.substr(colons + 2);
}

std::span<const std::string_view> builtinIndices() {
    static constexpr std::array<std::string_view, 4> names = {"threadIdx", "blockIdx", "blockDim",
                                                              "gridDim"};
    return names;
}

bool isBuiltinIndex(std::string_view name) {
    return std::ranges::find(builtinIndices(), name) != builtinIndices().end();
}

bool isAtomic(std::string_view name) {
    name = unqualified(name);
    return name.starts_with("atomic") && name.size() > 6 && name[6] >= 'A' && name[6] <= 'Z';
}

std::optional<AccessKind> cachedAccess(std::string_view name) {
    constexpr auto loads = std::to_array<std::string_view>(
        {"__ldg", "__ldca", "__ldcg", "__ldcs", "__ldlu", "__ldcv"});
    constexpr auto stores =
        std::to_array<std::string_view>({"__stwb", "__stcg", "__stcs", "__stwt"});
    name = unqualified(name);
    if (contains(loads, name))
        return AccessKind::Read;
    if (contains(stores, name))
        return AccessKind::Write;
    return std::nullopt;
}

std::optional<WarpOperationKind> warpOperation(std::string_view name) {
    name = unqualified(name);
    if (name.starts_with("__shfl"))
        return WarpOperationKind::Shuffle;
    if (name.starts_with("__match_"))
        return WarpOperationKind::Match;
    if (name.starts_with("__reduce_") && name.ends_with("_sync"))
        return WarpOperationKind::Reduce;
    if (name == "__activemask")
        return WarpOperationKind::ActiveMask;
    constexpr auto votes = std::to_array<std::string_view>(
        {"__all_sync", "__any_sync", "__ballot_sync", "__uni_sync", "__all", "__any", "__ballot"});
    if (contains(votes, name))
        return WarpOperationKind::Vote;
    return std::nullopt;
}

std::optional<BarrierKind> barrier(std::string_view name, bool isMethod,
                                   std::string_view objectType) {
    name = unqualified(name);
    if (isMethod) {
        if (name != "sync" && name != "barrier_wait")
            return std::nullopt;
        if (objectType.find("grid_group") != std::string_view::npos)
            return BarrierKind::GridSync;
        if (objectType.find("group") != std::string_view::npos ||
            objectType.find("thread_block") != std::string_view::npos ||
            objectType.find("tile") != std::string_view::npos)
            return BarrierKind::GroupSync;
        return std::nullopt;
    }
    if (name == "__syncthreads" || name == "__barrier_sync")
        return BarrierKind::SyncThreads;
    if (name == "__syncthreads_count" || name == "__syncthreads_and" || name == "__syncthreads_or")
        return BarrierKind::SyncThreadsReduce;
    if (name == "__syncwarp")
        return BarrierKind::SyncWarp;
    if (name.starts_with("__threadfence"))
        return BarrierKind::Fence;
    return std::nullopt;
}

MathKind mathFunction(std::string_view name) {
    name = unqualified(name);
    if (contains(specialMath, name))
        return MathKind::Special;
    return contains(simpleMath, name) ? MathKind::Simple : MathKind::None;
}

bool leavesPointersAlone(std::string_view name) {
    constexpr auto harmless = std::to_array<std::string_view>(
        {"printf", "assert", "__assert_fail", "__isGlobal", "__isShared", "__prefetch_global_l1"});
    return contains(harmless, unqualified(name));
}

} // namespace kernelskill::analysis
