#include "engine/diagnosis/dependent_loads.h"
#include "engine/diagnosis/gpus.h"
#include "engine/diagnosis/signals.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace kernelskill::engine {
namespace {

using analysis::KernelModel;
using analysis::noId;
using analysis::SourceText;
using analysis::Span;

struct Context {
    const KernelModel& kernel;
    const analysis::Features& features;
    const SourceText* source;
    const Gpu& gpu;

    [[nodiscard]] Signal at(std::string name, double value, Span span) const {
        Signal signal;
        signal.name = std::move(name);
        signal.value = value;
        signal.file = kernel.file;
        if (source != nullptr)
            signal.line = source->lineColumn(span.begin).line;
        return signal;
    }
    [[nodiscard]] Span spanOf(const analysis::MemoryAccess& access) const {
        return access.expression == noId ? kernel.nameSpan
                                         : kernel.body.expr(access.expression).span;
    }
};

void addAccesses(const Context& context, std::vector<Signal>& signals) {
    for (const analysis::AccessFeatures& seen : context.features.accesses) {
        if (seen.access >= context.kernel.accesses.size())
            continue;
        const analysis::MemoryAccess& access = context.kernel.accesses[seen.access];
        Span span = context.spanOf(access);
        if (seen.sectorsPerRequest && access.width > 0) {
            // 32 lanes of `width` bytes fill exactly `width` sectors of 32 bytes. What other fields
            // of a struct use of them is no waste.
            double minimum = access.width;
            Signal signal =
                context.at("static_sector_overfetch",
                           std::max(1.0, *seen.sectorsPerRequest / (minimum * seen.fellows)), span);
            signal.numbers["sectors_per_request"] = *seen.sectorsPerRequest;
            signal.numbers["minimum"] = minimum;
            signal.words["explanation"] = seen.explanation;
            signals.push_back(std::move(signal));
        }
        if (seen.bankConflictDegree) {
            Signal signal =
                context.at("static_bank_conflict_degree", *seen.bankConflictDegree, span);
            signal.words["explanation"] = seen.explanation;
            signals.push_back(std::move(signal));
        }
    }
}

void addAtomics(const Context& context, std::vector<Signal>& signals) {
    for (const analysis::Atomic& atomic : context.kernel.atomics) {
        if (atomic.access >= context.kernel.accesses.size())
            continue;
        const analysis::MemoryAccess& access = context.kernel.accesses[atomic.access];
        if (!access.index || access.index->hasOpaque())
            continue;
        bool dependsOnLane = false;
        for (std::uint32_t axis = 0; axis < 3; ++axis)
            dependsOnLane |= access.index->dependsOn({analysis::SymbolKind::ThreadIdx, axis});
        // Under a condition, probably one lane updates: the usual end of a reduction.
        if (!dependsOnLane && access.conditions.empty())
            signals.push_back(context.at("atomics_on_uniform_address", 1, context.spanOf(access)));
    }
}

bool isWithin(const KernelModel& kernel, std::uint32_t loop, std::uint32_t ancestor) {
    for (std::size_t steps = 0; loop != noId && steps <= kernel.loops.size(); ++steps) {
        if (loop == ancestor)
            return true;
        loop = kernel.loops.at(loop).parent;
    }
    return false;
}

/// The accesses of one iteration of `loop`, with inner loops multiplied; nullopt if an inner loop
/// has an unknown trip count.
std::optional<double> accessesARound(const KernelModel& kernel, std::uint32_t loop) {
    double count = 0;
    for (const analysis::MemoryAccess& access : kernel.accesses) {
        auto place = std::ranges::find(access.loops, loop);
        if (place == access.loops.end())
            continue;
        double times = 1;
        for (auto inner = std::next(place); inner != access.loops.end(); ++inner) {
            if (!kernel.loops.at(*inner).tripCount)
                return std::nullopt;
            times *= static_cast<double>(*kernel.loops.at(*inner).tripCount);
        }
        count += access.kind == analysis::AccessKind::ReadWrite ? 2 * times : times;
    }
    return count;
}

void addBarriers(const Context& context, std::vector<Signal>& signals) {
    const KernelModel& kernel = context.kernel;
    for (std::uint32_t index = 0; index < kernel.loops.size(); ++index) {
        const analysis::Loop& loop = kernel.loops[index];
        bool isInnermostWithBarrier =
            loop.hasBarrier && std::ranges::none_of(kernel.loops, [&](const analysis::Loop& other) {
                return &other != &loop && other.hasBarrier && isWithin(kernel, other.parent, index);
            });
        if (!isInnermostWithBarrier)
            continue;
        Span span = kernel.body.stmt(loop.statement).span;
        auto barriers =
            std::ranges::count_if(kernel.barriers, [&](const analysis::Barrier& barrier) {
                bool isBlockWide = barrier.kind != analysis::BarrierKind::SyncWarp &&
                                   barrier.kind != analysis::BarrierKind::Fence;
                return isBlockWide && span.contains(kernel.body.expr(barrier.call).span);
            });
        auto accesses = accessesARound(kernel, index);
        if (barriers == 0 || !accesses)
            continue;
        Signal signal = context.at("static_accesses_per_barrier",
                                   *accesses / static_cast<double>(barriers), span);
        signal.numbers["barriers"] = static_cast<double>(barriers);
        signal.numbers["accesses"] = *accesses;
        signals.push_back(std::move(signal));
    }
}

void addBranches(const Context& context, std::vector<Signal>& signals) {
    const KernelModel& kernel = context.kernel;
    for (const analysis::Branch& branch : kernel.branches) {
        if (!branch.dependsOnThread || branch.isBoundsGuard)
            continue;
        Span span = kernel.body.stmt(branch.statement).span;
        bool isInLoop = std::ranges::any_of(kernel.loops, [&](const analysis::Loop& loop) {
            return loop.body != noId && kernel.body.stmt(loop.body).span.contains(span);
        });
        if (isInLoop)
            signals.push_back(context.at("thread_dependent_branch_in_loop", 1, span));
    }
}

/// The bytes that a thread loads from global memory when it runs `line` once.
double bytesLoadedOn(const Context& context, std::optional<std::uint32_t> line) {
    constexpr double assumedWidth = 4; // The type may be a template parameter.
    double bytes = 0;
    for (const analysis::MemoryAccess& access : context.kernel.accesses) {
        const bool isLoad = access.space == analysis::MemorySpace::Global &&
                            access.kind == analysis::AccessKind::Read;
        if (isLoad && context.at("", 0, context.spanOf(access)).line == line)
            bytes += access.width > 0 ? access.width : assumedWidth;
    }
    return bytes > 0 ? bytes : assumedWidth;
}

/// Adds one signal for all dependent loads of a line.
void addDependentLoads(const Context& context, std::vector<Signal>& signals) {
    const KernelModel& kernel = context.kernel;
    for (const DependentLoad& load : dependentLoads(kernel)) {
        Signal signal = context.at("dependent_load_in_loop", 1, kernel.body.expr(load.access).span);
        const auto known = std::ranges::find_if(signals, [&](const Signal& other) {
            return other.name == signal.name && other.line == signal.line;
        });
        if (known != signals.end() && signal.line)
            continue;
        signal.words["variable"] = kernel.body.variable(load.variable).name;
        signal.numbers["line_bytes"] = bytesLoadedOn(context, signal.line);
        signals.push_back(std::move(signal));
    }
}

/// Whether the place of a written result depends on an x axis and a y axis.
bool writesTwoAxes(const KernelModel& kernel) {
    return std::ranges::any_of(kernel.accesses, [](const analysis::MemoryAccess& access) {
        bool isResult = access.space == analysis::MemorySpace::Global &&
                        access.kind != analysis::AccessKind::Read && access.index;
        if (!isResult)
            return false;
        auto uses = [&](std::uint32_t axis) {
            return access.index->dependsOn({analysis::SymbolKind::ThreadIdx, axis}) ||
                   access.index->dependsOn({analysis::SymbolKind::BlockIdx, axis});
        };
        return uses(0) && (uses(1) || uses(2));
    });
}

/// Whether a loop neither loads nor stores and does no floating-point work. Then the text does not
/// tell how its work compares with the bytes.
bool hidesItsWork(const Context& context) {
    const KernelModel& kernel = context.kernel;
    if (context.features.arithmeticIntensity.value_or(0) > 0)
        return false;
    for (std::uint32_t loop = 0; loop < kernel.loops.size(); ++loop) {
        const bool accesses = std::ranges::any_of(kernel.accesses, [&](const auto& access) {
            return std::ranges::find(access.loops, loop) != access.loops.end();
        });
        if (!accesses)
            return true;
    }
    return false;
}

void addIntensity(const Context& context, std::vector<Signal>& signals) {
    const KernelModel& kernel = context.kernel;
    if (context.features.arithmeticIntensity && !hidesItsWork(context)) {
        const Balance balance = singleBalance(context.gpu);
        Signal signal = context.at(
            "static_intensity_over_balance",
            *context.features.arithmeticIntensity / balance.operationsPerByte, kernel.nameSpan);
        signal.line.reset(); // It concerns the whole kernel.
        signal.numbers = {{"intensity", *context.features.arithmeticIntensity},
                          {"balance", balance.operationsPerByte}};
        signal.words["a_gpu"] = withArticle(context.gpu);
        signals.push_back(std::move(signal));
    }
    if (!context.features.hasContraction || kernel.loops.empty() || !writesTwoAxes(kernel))
        return;
    const analysis::Loop& deepest =
        *std::ranges::max_element(kernel.loops, {}, &analysis::Loop::depth);
    signals.push_back(
        context.at("contraction_over_two_axes", 1, kernel.body.stmt(deepest.statement).span));
}

} // namespace

std::vector<Signal> staticSignals(const DiagnosisInput& input) {
    const Context context{input.kernel, input.features, input.source, input.gpu};
    std::vector<Signal> signals;
    addAccesses(context, signals);
    addAtomics(context, signals);
    addBarriers(context, signals);
    addBranches(context, signals);
    addDependentLoads(context, signals);
    addIntensity(context, signals);
    return signals;
}

} // namespace kernelskill::engine
