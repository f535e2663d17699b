#include "analysis/compile/occupancy.h"
#include "engine/diagnosis/dependent_loads.h"
#include "engine/diagnosis/gpus.h"
#include "engine/diagnosis/host_loops.h"
#include "engine/diagnosis/shape_finder.h"
#include "engine/diagnosis/signals.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
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

void addOverfetch(const Context& context, Span span, double sectors, double least,
                  std::string explanation, std::vector<Signal>& signals) {
    Signal signal = context.at("static_sector_overfetch", sectors / least, span);
    signal.numbers["sectors_per_request"] = sectors;
    signal.numbers["minimum"] = least;
    signal.words["explanation"] = std::move(explanation);
    signals.push_back(std::move(signal));
}

void addAccesses(const Context& context, std::vector<Signal>& signals) {
    for (const analysis::AccessFeatures& seen : context.features.accesses) {
        if (seen.access >= context.kernel.accesses.size())
            continue;
        const analysis::MemoryAccess& access = context.kernel.accesses[seen.access];
        Span span = context.spanOf(access);
        if (seen.sectorsPerRequest && access.width > 0) {
            // 32 lanes of `width` bytes fill exactly `width` sectors of 32 bytes. What other fields
            // of a struct use of them is no waste.
            addOverfetch(context, span, *seen.sectorsPerRequest,
                         std::min<double>(*seen.sectorsPerRequest, access.width * seen.fellows),
                         seen.explanation, signals);
        }
        if (seen.bankConflictDegree) {
            Signal signal =
                context.at("static_bank_conflict_degree", *seen.bankConflictDegree, span);
            signal.words["explanation"] = seen.explanation;
            signals.push_back(std::move(signal));
        }
    }
}

/// Whether the features see the same cost of a request, which they find in another way.
bool sees(const analysis::AccessFeatures& seen, const WarpReach& reach) {
    constexpr double alike = 0.5;
    return (seen.sectorsPerRequest && std::abs(*seen.sectorsPerRequest - reach.sectors) < alike) ||
           (seen.bankConflictDegree &&
            std::abs(*seen.bankConflictDegree - reach.wavefronts) < alike);
}

/// The sentence about an access: the features' own where they have one of the same cost.
std::string explanationOf(const Context& context, const analysis::Nest& nest,
                          const analysis::NestAccess& access, const WarpReach& reach) {
    for (const analysis::AccessFeatures& seen : context.features.accesses)
        if (access.frame == 0 && seen.access < context.kernel.accesses.size() &&
            context.kernel.accesses[seen.access].expression == access.expression &&
            sees(seen, reach))
            return seen.explanation;
    const std::string name = "'" + nest.arrays[access.array].name + "'";
    const std::string apart =
        !reach.stride ? "lanes reach unevenly spaced elements"
        : WarpView::isRowApart(*reach.stride, reach.width)
            ? "neighbouring lanes are a whole row or more apart"
            : fmt::format("neighbouring lanes are {} bytes apart", std::abs(*reach.stride));
    return nest.arrays[access.array].space == analysis::MemorySpace::Shared
               ? fmt::format("{}: {}, {:g} wavefront{} a request", name, apart, reach.wavefronts,
                             reach.wavefronts == 1 ? "" : "s")
               : fmt::format("{}: {}, {:g} sector{} a request", name, apart, reach.sectors,
                             reach.sectors == 1 ? "" : "s");
}

/// The rounds of a loop: a number for all whose rounds are unknown.
double roundsOf(const WarpView& warp, analysis::NestNodeId loop) {
    constexpr double someRounds = 16;
    constexpr double maxRounds = 4096;
    const auto rounds = warp.rounds(loop);
    return rounds ? std::clamp(static_cast<double>(*rounds), 1.0, maxRounds) : someRounds;
}

/// Returns how often one warp makes an access: the product of the rounds of the loops around it.
double timesOf(const WarpView& warp, const analysis::NestAccess& access) {
    double times = 1;
    for (const analysis::NestNodeId loop : serialLoops(warp.nest(), access.node))
        times *= roundsOf(warp, loop);
    return times;
}

/// The cost of one request: its wavefronts if it goes to shared memory, else its sectors.
double requestCost(const analysis::Nest& nest, const analysis::NestAccess& access,
                   const WarpReach& reach) {
    if (nest.arrays[access.array].space == analysis::MemorySpace::Shared)
        return std::max(reach.wavefronts, 1.0);
    constexpr double ofIndirect = 32;
    return reach.isKnown() ? reach.sectors : ofIndirect;
}

/// Whether the number follows from what the variable holds, at any depth.
bool followsFrom(const analysis::Nest& nest, const analysis::IndexExpression& number,
                 const analysis::NestArray& variable) {
    return std::ranges::any_of(number.terms(), [&](const auto& term) {
        return std::ranges::any_of(term.first, [&](analysis::Symbol symbol) {
            const analysis::NestSymbol* named = nest.symbols.find(symbol);
            if (named == nullptr)
                return false;
            const bool isOf = named->kind == analysis::NestSymbolKind::Value &&
                              named->frame == variable.frame &&
                              (named->variable == variable.variable || named->variable == noId);
            return isOf || std::ranges::any_of(named->operands, [&](const auto& operand) {
                       return followsFrom(nest, operand, variable);
                   });
        });
    });
}

/// Whether rounds of the loop find the access where it was, with nothing in between that could have
/// changed the element: the compiler loads it once for all of them.
bool staysIn(const analysis::Nest& nest, const analysis::NestAccess& access,
             analysis::NestNodeId loop) {
    if (!access.index || access.kind != analysis::AccessKind::Read ||
        mentions(nest, *access.index, nest.node(loop).loop()->iterator))
        return false;
    const auto changesIt = [&](const analysis::NestAccess& other) {
        if (other.array == noId || other.node == noId || other.kind == analysis::AccessKind::Read ||
            !isBelow(nest, loop, other.node))
            return false;
        const analysis::NestArray& array = nest.arrays[other.array];
        return array.isVariable ? followsFrom(nest, *access.index, array)
                                : other.array == access.array;
    };
    if (std::ranges::any_of(nest.accesses, changesIt))
        return false;
    for (analysis::NestNodeId id = 0; id < nest.nodes.size(); ++id)
        if (nest.node(id).barrier() != nullptr && isBelow(nest, loop, id))
            return false;
    return true;
}

/// Counts how often one warp makes an access to shared memory after the compiler has kept in a
/// register what inner loops find where it was.
double timesLeft(const WarpView& warp, const analysis::NestAccess& access) {
    const analysis::Nest& nest = warp.nest();
    double times = timesOf(warp, access);
    // The innermost loop comes first.
    for (const analysis::NestNodeId loop : serialLoops(nest, access.node)) {
        if (!staysIn(nest, access, loop))
            break;
        times /= roundsOf(warp, loop);
    }
    return times;
}

/// Whether `part` of a warp's transfers is a tenth or more of all of them, which is the threshold
/// for counted sectors, too. `part` gives the transfers of one access that count, and `times` how
/// often the warp makes it. Neither is asked about local memory.
bool isTenthOfTransfers(
    const WarpView& warp, const std::function<double(analysis::NestAccessId)>& part,
    const std::function<double(const WarpView&, const analysis::NestAccess&)>& times) {
    constexpr double minShare = 0.1;
    const analysis::Nest& nest = warp.nest();
    double total = 0;
    double counted = 0;
    for (analysis::NestAccessId id = 0; id < nest.accesses.size(); ++id) {
        const analysis::NestAccess& access = nest.accesses[id];
        if (access.array == noId || nest.arrays[access.array].isVariable || access.node == noId ||
            nest.arrays[access.array].space == analysis::MemorySpace::Local)
            continue;
        const double made = times(warp, access);
        total += requestCost(nest, access, warp.reach(id)) * made;
        counted += part(id) * made;
    }
    return counted >= minShare * total;
}

bool isShared(const analysis::Nest& nest, const analysis::NestAccess& access) {
    return nest.arrays[access.array].space == analysis::MemorySpace::Shared;
}

/// Whether the wavefronts of shared memory that conflicts add are enough to count.
bool conflictsCount(const WarpView& warp) {
    const analysis::Nest& nest = warp.nest();
    return isTenthOfTransfers(
        warp,
        [&](analysis::NestAccessId id) {
            const WarpReach& reach = warp.reach(id);
            return isShared(nest, nest.accesses[id]) && reach.isKnown()
                       ? std::max(reach.wavefronts - 1.0, 0.0)
                       : 0.0;
        },
        [&](const WarpView& view, const analysis::NestAccess& access) {
            return isShared(nest, access) ? timesLeft(view, access) : timesOf(view, access);
        });
}

/// Whether the sectors that requests to global memory transfer in vain are enough to count: a
/// wasteful access that is made once beside a long loop is not.
bool wasteCounts(const WarpView& warp) {
    const analysis::Nest& nest = warp.nest();
    return isTenthOfTransfers(
        warp,
        [&](analysis::NestAccessId id) {
            const WarpReach& reach = warp.reach(id);
            const bool isWasted = !isShared(nest, nest.accesses[id]) && reach.isWasteful() &&
                                  !isRestOfVectors(warp, id);
            return isWasted ? static_cast<double>(reach.sectors - reach.least) : 0.0;
        },
        timesOf);
}

/// The same from the nest: also of pointers that move and of fields, at the best alignment, and of
/// the lanes that conditions let on.
void addReaches(const Context& context, const WarpView& warp, const CodeShape& shape,
                std::vector<Signal>& signals) {
    const analysis::Nest& nest = warp.nest();
    const bool isWasteful = wasteCounts(warp);
    const bool hasConflicts = conflictsCount(warp);
    for (analysis::NestAccessId id = 0; id < nest.accesses.size(); ++id) {
        const analysis::NestAccess& access = nest.accesses[id];
        if (access.array == noId || nest.arrays[access.array].isVariable || access.node == noId)
            continue;
        const WarpReach& reach = warp.reach(id);
        if (!reach.isKnown() || reach.lanes < WarpReach::manyLanes)
            continue;
        const Span span = access.frame == 0 && access.expression != noId
                              ? context.kernel.body.expr(access.expression).span
                              : context.kernel.nameSpan;
        const analysis::MemorySpace space = nest.arrays[access.array].space;
        if (space == analysis::MemorySpace::Shared) {
            // A conflict of two or three costs a cycle or two, which shows only in a loop.
            constexpr double manyWavefronts = 4;
            const auto outer = analysis::around(nest, access.node);
            const bool isInLoop = std::ranges::any_of(outer, [&](analysis::NestNodeId node) {
                return nest.node(node).loop() != nullptr;
            });
            Signal signal = context.at(
                "static_bank_conflict_degree",
                hasConflicts && (isInLoop || reach.wavefronts >= manyWavefronts) ? reach.wavefronts
                                                                                 : 1,
                span);
            signal.words["explanation"] = explanationOf(context, nest, access, reach);
            signals.push_back(std::move(signal));
        } else if (space == analysis::MemorySpace::Global ||
                   space == analysis::MemorySpace::Generic) {
            if (reach.isWasteful() && (!isWasteful || isRestOfVectors(warp, id)))
                continue;
            // The caches bring together what lanes use of a record; rows they do not.
            constexpr std::int64_t longestRecord = 256;
            const bool isOfRecord =
                (shape.find(shape::records) != nullptr || shape.find(shape::pairs) != nullptr) &&
                reach.stride && std::abs(*reach.stride) <= longestRecord;
            if (isOfRecord && reach.isWasteful() && isBesideLongLoop(warp, access))
                continue;
            addOverfetch(context, span, reach.sectors, reach.least,
                         explanationOf(context, nest, access, reach), signals);
            if (isOfRecord)
                signals.back().name = "static_record_overfetch";
        }
    }
}

/// Whether the branch lets lanes on by their index: `if (threadIdx.x == 0)`, the usual end of a
/// reduction. A bounds guard lets on almost all of them, and data any of them.
bool choosesLanes(const analysis::Branch& branch) {
    return branch.dependsOnThread && !branch.isBoundsGuard && !branch.dependsOnData;
}

/// Whether `statement` ends in a return, a break or a continue.
bool leaves(const analysis::FunctionBody& body, analysis::StmtId statement) {
    const analysis::Stmt& stmt = body.stmt(statement);
    if (stmt.kind == analysis::StmtKind::Compound)
        return !stmt.children.empty() && leaves(body, stmt.children.back());
    return stmt.kind == analysis::StmtKind::Return || stmt.kind == analysis::StmtKind::Break ||
           stmt.kind == analysis::StmtKind::Continue;
}

/// Whether the statement is in a block of `outer`'s and before `place`, which that block holds.
bool isAheadOf(const analysis::FunctionBody& body, analysis::StmtId statement, Span place) {
    return body.stmt(statement).span.end <= place.begin &&
           std::ranges::any_of(body.stmts, [&](const analysis::Stmt& block) {
               return block.kind == analysis::StmtKind::Compound && block.span.contains(place) &&
                      std::ranges::find(block.children, statement) != block.children.end();
           });
}

/// Whether some lanes of each warp are kept from the access, by a condition around it or by an
/// early exit before it.
bool isOfChosenLanes(const KernelModel& kernel, const analysis::MemoryAccess& access) {
    const analysis::FunctionBody& body = kernel.body;
    return std::ranges::any_of(kernel.branches, [&](const analysis::Branch& branch) {
        if (!choosesLanes(branch))
            return false;
        if (std::ranges::find(access.conditions, branch.statement) != access.conditions.end())
            return true;
        const analysis::Stmt& stmt = body.stmt(branch.statement);
        return stmt.kind == analysis::StmtKind::If && stmt.children.size() == 1 &&
               leaves(body, stmt.children.front()) && access.expression != noId &&
               isAheadOf(body, branch.statement, body.expr(access.expression).span);
    });
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
        if (!dependsOnLane && !isOfChosenLanes(context.kernel, access))
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

void addIntensity(const Context& context, std::optional<double> intensity,
                  std::vector<Signal>& signals) {
    if (!intensity)
        return;
    const Balance balance = singleBalance(context.gpu);
    Signal signal = context.at("static_intensity_over_balance",
                               *intensity / balance.operationsPerByte, context.kernel.nameSpan);
    signal.line.reset(); // It concerns the whole kernel.
    signal.numbers = {{"intensity", *intensity}, {"balance", balance.operationsPerByte}};
    signal.words["a_gpu"] = withArticle(context.gpu);
    signals.push_back(std::move(signal));
}

void addContraction(const Context& context, std::vector<Signal>& signals) {
    const KernelModel& kernel = context.kernel;
    if (!context.features.hasContraction || kernel.loops.empty() || !writesTwoAxes(kernel))
        return;
    const analysis::Loop& deepest =
        *std::ranges::max_element(kernel.loops, {}, &analysis::Loop::depth);
    signals.push_back(
        context.at("contraction_over_two_axes", 1, kernel.body.stmt(deepest.statement).span));
}

/// A signal for each shape that a rule may ask for.
void addShapes(const Context& context, const CodeShape& shape, std::vector<Signal>& signals) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 17> names = {{
        {shape::oneAddress, "atomics_on_uniform_address"},
        {shape::counter, "atomics_on_uniform_address"},
        {shape::sharedTotal, "atomics_on_uniform_address"},
        {shape::product, "contraction_over_two_axes"},
        {shape::tiledProduct, "contraction_over_two_axes"},
        {shape::halfProduct, "contraction_over_two_axes"},
        {shape::raggedRows, "ragged_row_walk"},
        {shape::indirect, "indirect_access"},
        {shape::smallTable, "indirect_access"},
        {shape::linearSearch, "linear_search"},
        {shape::histogram, "atomics_on_data_address"},
        {shape::scatterAtomics, "atomics_on_data_address"},
        {shape::lock, "lock_loop"},
        {shape::interleaved, "interleaved_lanes"},
        {shape::laneBranch, "thread_dependent_branch_in_loop"},
        {shape::dataBranch, "thread_dependent_branch_in_loop"},
        {shape::dataLoop, "data_dependent_rounds"},
    }};
    for (const auto& [fact, name] : names)
        if (const ShapeFact* found = shape.find(fact)) {
            Signal signal = context.at(std::string(name), found->value, found->span);
            signal.words["word"] = found->word;
            if (!found->function.empty() && signal.line)
                signal.words["where"] =
                    fmt::format("in {} (called on line {})", found->function, *signal.line + 1);
            signals.push_back(std::move(signal));
        }
    if (const ShapeFact* called = shape.find(shape::uniformFunction)) {
        Signal signal = context.at("invariant_function_call", 1, called->span);
        signal.words["word"] = called->word;
        signals.push_back(std::move(signal));
    }
    if (const ShapeFact* steps = shape.find(shape::gridSteps))
        signals.push_back(context.at("grid_barrier_in_loop", 1, steps->span));
}

/// A launch in a loop of the host whose threads the machine holds at once, each of which does a few
/// things: it takes less time than the launch.
void addSmallLaunches(const DiagnosisInput& input, const WarpView& warp, const Context& context,
                      std::vector<Signal>& signals) {
    const LaunchSpec* launch = input.profile != nullptr ? &input.profile->launch : input.launch;
    const auto limits = analysis::limitsOf(input.gpu.capability);
    if (launch == nullptr || !limits || launch->origin == LaunchOrigin::Guessed)
        return;
    const analysis::Nest& nest = warp.nest();
    constexpr std::int64_t fewRounds = 64;
    for (analysis::NestNodeId node = 0; node < nest.nodes.size(); ++node)
        if (nest.node(node).loop() != nullptr &&
            warp.rounds(node).value_or(fewRounds + 1) > fewRounds)
            return;
    const auto threads = static_cast<double>(launch->grid.count() * launch->block.count());
    const double held = static_cast<double>(input.gpu.multiprocessors) * limits->warps * 32.0;
    for (const RepeatedLaunch& repeated : repeatedLaunches(*input.file, context.kernel)) {
        constexpr std::int64_t often = 10;
        if (repeated.launches.value_or(often) < often)
            continue;
        Signal signal =
            context.at("repeated_launch_over_machine", threads / held, context.kernel.nameSpan);
        signal.file = repeated.file;
        signal.line.reset();
        if (input.file->source && repeated.file == input.file->file)
            signal.line = input.file->source->lineColumn(repeated.span.begin).line;
        signal.numbers = {{"threads", threads}, {"held", held}};
        signal.words["launches"] =
            repeated.launches ? fmt::format("{} times", *repeated.launches) : "in a loop";
        signal.words["a_gpu"] = withArticle(input.gpu);
        signals.push_back(std::move(signal));
    }
}

} // namespace

std::vector<Signal> staticSignals(const DiagnosisInput& input, const WarpView* warp,
                                  const CodeShape* shape) {
    const Context context{input.kernel, input.features, input.source, input.gpu};
    std::vector<Signal> signals;
    if (shape == nullptr)
        addAtomics(context, signals);
    addBarriers(context, signals);
    addDependentLoads(context, signals);
    if (warp != nullptr && shape != nullptr) {
        addReaches(context, *warp, *shape, signals);
        addShapes(context, *shape, signals);
        addIntensity(context, shape->work.intensity(), signals);
        addSmallLaunches(input, *warp, context, signals);
    } else {
        addAccesses(context, signals);
        addBranches(context, signals);
        addIntensity(context,
                     hidesItsWork(context) ? std::nullopt : input.features.arithmeticIntensity,
                     signals);
        addContraction(context, signals);
    }
    return signals;
}

} // namespace kernelskill::engine
