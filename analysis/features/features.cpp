#include "analysis/features/features.h"

#include "analysis/features/arithmetic.h"
#include "analysis/features/warp_access.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace kernelskill::analysis {

namespace {

bool dependsOnKind(const IndexExpression& index, SymbolKind kind) {
    return std::ranges::any_of(index.terms(), [&](const auto& term) {
        return std::ranges::any_of(term.first, [&](Symbol symbol) { return symbol.kind == kind; });
    });
}

bool dependsOnOtherAxes(const IndexExpression& index) {
    return std::ranges::any_of(index.terms(), [](const auto& term) {
        return std::ranges::any_of(term.first, [](Symbol symbol) {
            const bool builtin =
                symbol.kind == SymbolKind::ThreadIdx || symbol.kind == SymbolKind::BlockIdx;
            return builtin && symbol.id != 0;
        });
    });
}

/// The axes on which all launches have the same constant.
BlockShape blockShapeOf(const KernelModel& kernel) {
    BlockShape shape;
    bool first = true;
    for (const LaunchSite& launch : kernel.launches) {
        std::int64_t* const axes[] = {&shape.x, &shape.y, &shape.z};
        for (std::size_t i = 0; i < 3; ++i) {
            const std::int64_t here = i < launch.constantBlock.size() ? launch.constantBlock[i] : 0;
            *axes[i] = first || *axes[i] == here ? here : 0;
        }
        first = false;
    }
    return shape;
}

/// Whether the loop has `a[i] op= a[i + s]` and halves or doubles s between barriers.
bool isTreeReduction(const KernelModel& kernel, std::uint32_t loopId) {
    const Loop& loop = kernel.loops[loopId];
    const bool geometric = loop.stepOperator == ">>=" || loop.stepOperator == "/=" ||
                           loop.stepOperator == "<<=" || loop.stepOperator == "*=";
    if (!loop.hasBarrier || !geometric || loop.inductionVariable == noId)
        return false;
    const Symbol distance{SymbolKind::LoopVariable, loop.inductionVariable};
    const auto inLoop = [&](const MemoryAccess& access) {
        return access.space == MemorySpace::Shared &&
               std::ranges::find(access.loops, loopId) != access.loops.end();
    };
    return std::ranges::any_of(kernel.accesses, [&](const MemoryAccess& read) {
        if (!inLoop(read) || read.kind != AccessKind::Read || !read.index ||
            !read.index->dependsOn(distance))
            return false;
        return std::ranges::any_of(kernel.accesses, [&](const MemoryAccess& write) {
            return inLoop(write) && write.kind != AccessKind::Read && write.base == read.base;
        });
    });
}

bool isGridStride(const Loop& loop) {
    return loop.stepExpression && dependsOnKind(*loop.stepExpression, SymbolKind::GridDim) &&
           loop.start && dependsOnKind(*loop.start, SymbolKind::ThreadIdx);
}

bool hasOneElementPerThread(const KernelModel& kernel) {
    const bool guarded = std::ranges::any_of(kernel.branches, &Branch::isBoundsGuard);
    if (!guarded || !kernel.loops.empty())
        return false;
    bool writes = false;
    for (const MemoryAccess& access : kernel.accesses) {
        if (access.space != MemorySpace::Global)
            continue;
        if (access.index && dependsOnOtherAxes(*access.index))
            return false;
        const bool flat = access.index && dependsOnKind(*access.index, SymbolKind::ThreadIdx) &&
                          dependsOnKind(*access.index, SymbolKind::BlockIdx);
        writes = writes || (flat && access.kind != AccessKind::Read);
    }
    return writes;
}

/// The expressions that ask for a field of another, by that.
std::map<ExprId, ExprId> membersOf(const FunctionBody& body) {
    std::map<ExprId, ExprId> members;
    for (ExprId id = 0; id < body.exprs.size(); ++id)
        if (body.expr(id).kind == ExprKind::Member && !body.expr(id).children.empty())
            members.emplace(body.expr(id).children.front(), id);
    return members;
}

/// The fields of the element that an access is for: ".position.x" for `p[i]` and for
/// `p[i].position` in `p[i].position.x`.
std::string fieldOf(const FunctionBody& body, const std::map<ExprId, ExprId>& members,
                    ExprId access) {
    std::string field;
    for (ExprId at = access; body.expr(at).kind == ExprKind::Member;
         at = body.expr(at).children.front()) {
        field = "." + body.expr(at).name + field;
        if (body.expr(at).children.empty())
            break;
    }
    for (auto at = members.find(access); at != members.end(); at = members.find(at->second))
        field += "." + body.expr(at->second).name;
    return field;
}

/// The other elements of the sectors that an access touches, where accesses beside it use them.
void countFellows(const KernelModel& kernel, std::vector<AccessFeatures>& all) {
    const std::map<ExprId, ExprId> members = membersOf(kernel.body);
    for (AccessFeatures& features : all) {
        const MemoryAccess& access = kernel.accesses[features.access];
        const std::int64_t stride = std::abs(features.laneStride.value_or(0));
        if (!features.sectorsPerRequest || stride < 2 || !access.index)
            continue;
        std::set<std::pair<std::int64_t, std::string>> places;
        for (const AccessFeatures& other : all) {
            const MemoryAccess& fellow = kernel.accesses[other.access];
            const auto distance =
                fellow.index ? (*fellow.index - *access.index).asConstant() : std::nullopt;
            if (distance && fellow.base == access.base && fellow.width == access.width &&
                fellow.loops == access.loops && std::abs(*distance) < stride)
                places.emplace((*distance + stride) % stride,
                               fellow.expression == noId
                                   ? std::string()
                                   : fieldOf(kernel.body, members, fellow.expression));
        }
        features.fellows = static_cast<std::uint32_t>(
            std::clamp<std::int64_t>(static_cast<std::int64_t>(places.size()), 1, stride));
    }
}

} // namespace

Features extractFeatures(const KernelModel& kernel) {
    Features features;
    const BlockShape block = blockShapeOf(kernel);
    const ReassignedVariables reassigned(kernel.body);
    for (std::uint32_t i = 0; i < kernel.accesses.size(); ++i) {
        const MemorySpace space = kernel.accesses[i].space;
        if (space == MemorySpace::Global || space == MemorySpace::Shared)
            features.accesses.push_back(describeAccess(kernel, reassigned, i, block));
    }
    countFellows(kernel, features.accesses);
    features.hasSharedMemory = !kernel.sharedArrays.empty();
    features.hasBarriers = std::ranges::any_of(
        kernel.barriers, [](const Barrier& barrier) { return barrier.kind != BarrierKind::Fence; });
    features.hasAtomics = !kernel.atomics.empty();
    features.hasDivergentBranch = std::ranges::any_of(kernel.branches, [](const Branch& branch) {
        return branch.dependsOnThread && !branch.isBoundsGuard;
    });
    features.hasContraction = sumsProductsOfLoads(kernel);
    for (std::uint32_t i = 0; i < kernel.loops.size(); ++i) {
        features.hasSharedTreeReduction =
            features.hasSharedTreeReduction || isTreeReduction(kernel, i);
        features.hasGridStrideLoop = features.hasGridStrideLoop || isGridStride(kernel.loops[i]);
        features.loopDepth = std::max(features.loopDepth, kernel.loops[i].depth + 1);
    }
    features.oneElementPerThread = hasOneElementPerThread(kernel);
    features.arithmeticIntensity = arithmeticIntensity(kernel);
    return features;
}

std::map<std::string, FeatureValue> describeFeatures(const Features& features) {
    std::map<std::string, FeatureValue> described = {
        {"has_shared_memory", features.hasSharedMemory},
        {"has_barriers", features.hasBarriers},
        {"has_atomics", features.hasAtomics},
        {"has_divergent_branch", features.hasDivergentBranch},
        {"has_contraction", features.hasContraction},
        {"has_shared_tree_reduction", features.hasSharedTreeReduction},
        {"has_grid_stride_loop", features.hasGridStrideLoop},
        {"one_element_per_thread", features.oneElementPerThread},
        {"loop_depth", features.loopDepth},
    };
    const auto put = [&](const char* name, std::optional<double> value) {
        if (value)
            described[name] = *value;
    };
    put("arithmetic_intensity", features.arithmeticIntensity);
    std::optional<double> sectors;
    std::optional<double> conflicts;
    for (const AccessFeatures& access : features.accesses) {
        if (access.sectorsPerRequest)
            sectors = std::max(sectors.value_or(0), *access.sectorsPerRequest);
        if (access.bankConflictDegree)
            conflicts = std::max(conflicts.value_or(0), *access.bankConflictDegree);
    }
    put("worst_sectors_per_request", sectors);
    put("worst_bank_conflict_degree", conflicts);
    return described;
}

std::string spelling(const FeatureValue& value) {
    std::ostringstream text;
    text << std::boolalpha;
    std::visit([&](auto each) { text << each; }, value);
    return text.str();
}

} // namespace kernelskill::analysis
