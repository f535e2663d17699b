#include "skills/kernel-fusion/thread_elements.h"

#include "analysis/queries/kernel_footprint.h"
#include "analysis/queries/pointer_origins.h"
#include "analysis/source/try.h"
#include "analysis/syntax/lexer.h"
#include "skills/base/gates.h"
#include "skills/kernel-fusion/launched_index.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

constexpr std::size_t maxPairs = 4096;

bool isOpenToOthers(const NestArray& array) {
    return !array.isVariable &&
           (array.space == MemorySpace::Global || array.space == MemorySpace::Generic);
}

/// Returns the axis beyond those in `told` along which threads with different positions have
/// different values of `index`; nullopt if there is none, or none alone.
std::optional<std::uint32_t> axisTold(const LaunchedIndex& index,
                                      const std::set<std::uint32_t>& told) {
    std::optional<std::uint32_t> found;
    for (const auto& [factors, number] : index.terms)
        for (const std::string& factor : factors)
            for (std::uint32_t axis = 0; axis < 3; ++axis) {
                if (factor.starts_with("argument ") || factor.starts_with("constant ") ||
                    !factor.contains(positionName(axis)) || told.contains(axis))
                    continue;
                const bool isPlain = factor == positionName(axis) ||
                                     factor.starts_with("each (+1*" + positionName(axis));
                if (!isPlain || (found && *found != axis))
                    return std::nullopt;
                found = axis;
            }
    const bool isOnce =
        !found || std::ranges::count_if(index.terms, [&](const auto& term) {
                      return std::ranges::any_of(term.first, [&](const std::string& factor) {
                          return factor.contains(positionName(*found));
                      });
                  }) == 1;
    return isOnce ? found : std::nullopt;
}

class ElementComparison {
public:
    ElementComparison(const SkillContext& context, const LaunchPair& pair)
        : context_(context), host_(context.shared().host(pair.host)),
          first_(context.file, *pair.producer, *pair.first, host_),
          second_(context.file, *pair.consumer, *pair.second, host_),
          origins_(context.file, context.shared(), pair.host) {}

    Gated<SharedWork> run() {
        for (const LaunchedKernel* kernel : {&first_, &second_})
            KERNELSKILL_CHECK(requireKnown(*kernel));
        axes_ = first_.axes();
        axes_.merge(second_.axes());
        KERNELSKILL_CHECK(requireToldThreads());
        const std::vector<Touch> touches = touchesOf(first_);
        const std::vector<Touch> others = touchesOf(second_);
        if (touches.size() * others.size() > maxPairs)
            return refuse("many-accesses",
                          fmt::format("{} and {} make {} and {} accesses, too many to compare each "
                                      "with each",
                                      first_.kernel().name, second_.kernel().name, touches.size(),
                                      others.size()));
        for (const Touch& one : touches)
            for (const Touch& other : others)
                KERNELSKILL_CHECK(compare(one, other));
        work_.passed.assign(passed_.begin(), passed_.end());
        work_.reread.assign(reread_.begin(), reread_.end());
        countBytes();
        return work_;
    }

private:
    /// An access to memory that other threads reach.
    struct Touch {
        const NestAccess* access = nullptr;
        std::optional<std::size_t> parameter;
        std::optional<LaunchedIndex> index;
    };

    [[nodiscard]] static std::vector<Touch> touchesOf(const LaunchedKernel& kernel) {
        std::vector<Touch> touches;
        for (const NestAccess& access : kernel.nest().accesses) {
            if (!reachesOthers(kernel, access))
                continue;
            Touch touch{&access, {}, {}};
            if (access.array != noId)
                touch.parameter = kernel.parameterOf(access.array);
            if (touch.parameter && *touch.parameter >= kernel.launch().arguments.size())
                touch.parameter.reset();
            if (access.index && access.form <= NestAccessForm::Parametric)
                touch.index = kernel.index(*access.index);
            touches.push_back(std::move(touch));
        }
        return touches;
    }

    [[nodiscard]] std::uint32_t lineOf(const LaunchedKernel& kernel, const Touch& touch) const {
        return lineNumber(context_, kernel.nest().node(touch.access->node).span.begin);
    }

    Gated<void> requireKnown(const LaunchedKernel& kernel) const {
        const KernelFootprint footprint = footprintOf(context_.file, kernel.kernel());
        if (!footprint.unknown.empty())
            return refuse("unknown-effects",
                          fmt::format("{}: {}", kernel.kernel().name, footprint.unknown));
        if (std::ranges::any_of(kernel.kernel().barriers, [](const Barrier& barrier) {
                return barrier.kind == BarrierKind::GridSync;
            }))
            return refuse("unknown-effects",
                          kernel.kernel().name + " waits for the whole grid itself");
        for (const NestNode& node : kernel.nest().nodes)
            if (const NestStatement* statement = node.computation();
                statement != nullptr && !statement->opaque.empty())
                return refuse("unknown-effects",
                              fmt::format("line {} of {} is not followed: {}",
                                          lineNumber(context_, node.span.begin),
                                          kernel.kernel().name, statement->opaque));
        return {};
    }

    /// Refuses if threads do the same work, since no index depends on their axis: they would race.
    Gated<void> requireToldThreads() const {
        for (const LaunchedKernel* kernel : {&first_, &second_})
            for (std::uint32_t axis = 0; axis < 3; ++axis) {
                const NestExtents& extents = kernel->nest().extents;
                const std::int64_t threads =
                    extents.grid.at(axis).value_or(1) * extents.block.at(axis).value_or(1);
                if (!axes_.contains(axis) && threads > 1)
                    return refuse("redundant-threads",
                                  fmt::format("{} has {} threads along {} that do the same work",
                                              kernel->kernel().name, threads, "xyz"[axis]));
            }
        return {};
    }

    [[nodiscard]] static bool reachesOthers(const LaunchedKernel& kernel,
                                            const NestAccess& access) {
        return access.array == noId || isOpenToOthers(kernel.nest().arrays[access.array]);
    }

    Gated<void> compare(const Touch& one, const Touch& other) {
        const bool bothRead =
            one.access->kind == AccessKind::Read && other.access->kind == AccessKind::Read;
        if (!one.parameter || !other.parameter) {
            if (bothRead)
                return {};
            return refuse("unknown-effects",
                          fmt::format("whether lines {} and {} share memory is not known: one of "
                                      "them does not go through a pointer of its launch",
                                      lineOf(first_, one), lineOf(second_, other)));
        }
        const ExprId pointer = first_.launch().arguments[*one.parameter];
        const ExprId otherPointer = second_.launch().arguments[*other.parameter];
        const std::string& name = first_.kernel().parameters[*one.parameter].name;
        if (!host_.sameExpression(pointer, otherPointer)) {
            if (bothRead)
                return {};
            if (const auto common = commonOrigin(pointer, otherPointer))
                return refuse(
                    "may-alias",
                    fmt::format("{} of {} and {} of {} both come from {}, and one of them "
                                "is written",
                                name, first_.kernel().name,
                                second_.kernel().parameters[*other.parameter].name,
                                second_.kernel().name, *common));
            return {};
        }
        const bool isOwn = areOwn(one, other, bothRead);
        if (!isOwn && !bothRead && !areApart(*one.access, *other.access))
            return refuse(
                "reads-other-threads",
                fmt::format("line {} and line {} may touch one element of {} in different "
                            "threads, of which one writes it",
                            lineOf(first_, one), lineOf(second_, other), name));
        if (isOwn && one.access->kind != AccessKind::Read &&
            other.access->kind != AccessKind::Write)
            passed_.insert(name);
        if (isOwn && bothRead)
            reread_.insert(name);
        return {};
    }

    [[nodiscard]] std::optional<std::string> commonOrigin(ExprId a, ExprId b) {
        const auto known = common_.find({a, b});
        if (known != common_.end())
            return known->second;
        return common_.emplace(std::pair{a, b}, origins_.commonOrigin(a, b)).first->second;
    }

    /// Whether the accesses are to different members, as `p.x` and `p.y`.
    [[nodiscard]] static bool areApart(const NestAccess& one, const NestAccess& other) {
        return !one.field.empty() && !other.field.empty() && !one.field.starts_with(other.field) &&
               !other.field.starts_with(one.field);
    }

    /// Whether each element is touched by one thread in both kernels.
    [[nodiscard]] bool areOwn(const Touch& one, const Touch& other, bool bothRead) const {
        if (!one.index || !other.index || one.access->unit != other.access->unit)
            return false;
        if (!one.index->isOpen && *one.index == *other.index && (bothRead || tellsAll(*one.index)))
            return true; // Without tellsAll(), several threads could write the element.
        return !bothRead && areOwnByDimensions(*one.access, *other.access);
    }

    /// Whether the index names the position along all axes that the kernels ask for.
    [[nodiscard]] bool tellsAll(const LaunchedIndex& index) const {
        std::string text;
        for (const auto& [factors, number] : index.terms)
            for (const std::string& factor : factors)
                if (!factor.starts_with("argument ") && !factor.starts_with("constant "))
                    text += factor + " ";
        return std::ranges::all_of(axes_, [&](std::uint32_t axis) {
            const auto builtin = [&](std::string_view name) {
                return text.contains(fmt::format("{}.{}", name, "xyz"[axis]));
            };
            return builtin("position") || (builtin("threadIdx") && builtin("blockIdx"));
        });
    }

    /// One dimension of an index.
    struct Dimension {
        LaunchedIndex index;
        std::optional<LaunchedIndex> extent;
    };

    /// Outermost first.
    [[nodiscard]] static std::vector<Dimension> dimensionsOf(const LaunchedKernel& kernel,
                                                             const NestAccess& access) {
        std::vector<Dimension> dimensions;
        for (const NestSubscript& subscript : access.subscripts) {
            dimensions.push_back({kernel.index(subscript.index), {}});
            if (subscript.extent)
                dimensions.back().extent = kernel.index(*subscript.extent);
        }
        return dimensions;
    }

    [[nodiscard]] bool areOwnByDimensions(const NestAccess& one, const NestAccess& other) const {
        const std::vector<Dimension> ofOne = dimensionsOf(first_, one);
        const std::vector<Dimension> ofOther = dimensionsOf(second_, other);
        if (ofOne.size() != ofOther.size() || one.field != other.field)
            return false;
        std::vector<LaunchedIndex> same;
        for (std::size_t i = 0; i < ofOne.size(); ++i) {
            if (ofOne[i].extent != ofOther[i].extent)
                return false;
            if (!ofOne[i].index.isOpen && ofOne[i].index == ofOther[i].index)
                same.push_back(ofOne[i].index);
        }
        std::set<std::uint32_t> told;
        for (std::size_t before = 4; told.size() != before;) {
            before = told.size();
            for (const LaunchedIndex& index : same)
                if (const auto axis = axisTold(index, told))
                    told.insert(*axis);
        }
        return std::ranges::includes(told, axes_);
    }

    /// Counts the bytes of different elements, unless loops or data decide which these are.
    void countBytes() {
        using Place = std::pair<std::string, std::map<std::vector<std::string>, std::int64_t>>;
        std::map<Place, double> read[2];
        std::map<Place, double> written[2];
        for (int which = 0; which < 2; ++which) {
            const LaunchedKernel& kernel = which == 0 ? first_ : second_;
            for (const NestNode& node : kernel.nest().nodes)
                if (node.loop() != nullptr && node.loop()->style == NestLoopStyle::Serial)
                    return;
            for (const Touch& touch : touchesOf(kernel)) {
                const NestAccess& access = *touch.access;
                if (!touch.parameter || !touch.index || touch.index->isOpen || access.width == 0)
                    return;
                std::string name;
                for (const Token& token : lex(context_.file.source->text(),
                                              kernel.launch().argumentSpans.at(*touch.parameter)))
                    name += token.text;
                const Place place{name + access.field, touch.index->terms};
                const bool isUpdate =
                    access.kind == AccessKind::ReadWrite || access.kind == AccessKind::Atomic;
                const bool isKnown = written[which].contains(place);
                if ((access.kind == AccessKind::Read || isUpdate) && !isKnown)
                    read[which][place] = access.width;
                if (access.kind != AccessKind::Read)
                    written[which][place] = access.width;
            }
        }
        double before = 0;
        double after = 0;
        for (const auto* places : {&read[0], &written[0]})
            for (const auto& [place, bytes] : *places) {
                before += bytes;
                after += bytes;
            }
        for (const auto& [place, bytes] : read[1]) {
            before += bytes;
            after += read[0].contains(place) || written[0].contains(place) ? 0 : bytes;
        }
        for (const auto& [place, bytes] : written[1]) {
            before += bytes;
            after += written[0].contains(place) ? 0 : bytes;
        }
        work_.bytesBefore = before;
        work_.bytesAfter = after;
    }

    const SkillContext& context_;
    const CodeMap& host_;
    LaunchedKernel first_;
    LaunchedKernel second_;
    PointerOrigins origins_;
    std::set<std::uint32_t> axes_;
    std::set<std::string> passed_;
    std::set<std::string> reread_;
    std::map<std::pair<ExprId, ExprId>, std::optional<std::string>> common_;
    SharedWork work_;
};

} // namespace

Gated<SharedWork> requireOwnElements(const SkillContext& context, const LaunchPair& pair) {
    return ElementComparison(context, pair).run();
}

} // namespace kernelskill::skills
