#include "engine/proof/thread_order.h"

#include "engine/proof/launch_coverage.h"
#include "engine/proof/proof.h"
#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace kernelskill::engine {

using namespace analysis;

namespace {

/// Each pair is a question or two of about a millisecond.
constexpr std::size_t maxPairs = 160;
/// Pairs for which numbers are looked for.
constexpr int maxUndecided = 2;
/// Sizes and indices of a meeting that is shown, the easiest to find first.
constexpr std::array<Wide, 2> largestShown{40, 1024};
constexpr std::string_view axes = "xyz";

/// Two threads, of which the number is 1 or 2.
enum class Apart : std::uint8_t { InBlock, InGrid };

class MeetingSearch {
public:
    MeetingSearch(KernelRef kernel, IntegerSolver& solver, bool wanted,
                  std::optional<std::array<Wide, 3>> block)
        : kernel_(kernel), solver_(solver), wanted_(wanted), block_(block) {}

    [[nodiscard]] ThreadOrder find();

private:
    using Pair = std::pair<const IntervalAccess*, const IntervalAccess*>;

    [[nodiscard]] std::optional<UnorderedThreads> judge(const Pair& pair, Apart apart);
    /// The term as it is for one of the two threads.
    [[nodiscard]] Term of(Term term, int thread, Apart apart);
    [[nodiscard]] Term index(const char* name, std::size_t axis, int thread);
    [[nodiscard]] bool names(std::string_view builtin, std::size_t axis) const;
    /// What holds of two threads that are not the same one.
    [[nodiscard]] std::vector<Term> twoThreads(Apart apart);
    [[nodiscard]] Term mayBeTogether(const IntervalAccess& one, const IntervalAccess& other);
    [[nodiscard]] std::vector<Term> overlap(const IntervalAccess& one, const IntervalAccess& other,
                                            Apart apart);
    /// The array that an address leads into; empty if it is not known.
    [[nodiscard]] std::string baseOf(const IntervalAccess& access) const;
    [[nodiscard]] std::string exampleOf(const IntegerSolver::Numbers& numbers) const;

    KernelRef kernel_;
    IntegerSolver& solver_;
    bool wanted_;
    std::optional<std::array<Wide, 3>> block_;
    TermTable terms_{{.fewThreads = true}};
    ThreadTrace trace_;
    std::map<std::tuple<Term, int, Apart>, Term> renamed_;
    std::set<std::string> overlapping_; ///< Parameters that are taken not to overlap.
};

bool isOfLaunch(std::string_view symbol) {
    return symbol.starts_with("$parameter") || symbol.starts_with("$blockDim") ||
           symbol.starts_with("$gridDim") || symbol.starts_with("$outer") ||
           symbol.starts_with("$value") || symbol.starts_with("$size of") ||
           symbol.starts_with("$offset of") || symbol.starts_with("outer truth") ||
           symbol.starts_with("truth of") || symbol.starts_with("$memory:constant");
}

Term MeetingSearch::of(Term term, int thread, Apart apart) {
    const auto key = std::tuple(term, thread, apart);
    if (const auto known = renamed_.find(key); known != renamed_.end())
        return known->second;
    std::map<Term, Term> own;
    std::vector<Term> atoms;
    (void)terms_.anyAtom(term, [&](Term atom) {
        atoms.push_back(atom);
        return false;
    });
    for (const Term atom : atoms) {
        const std::string name = terms_.functionOf(atom);
        const bool isBlocks = name.starts_with("$blockIdx") || name.starts_with("$address of");
        const bool isCommon = isOfLaunch(name) || (apart == Apart::InBlock &&
                                                   (isBlocks || trace_.uniform.contains(atom)));
        if (isCommon || name.starts_with("$address of device"))
            continue;
        std::vector<Term> arguments = terms_.arguments(atom);
        const IntegerRange range = terms_.range(atom, {});
        if (arguments.empty()) {
            own[atom] = terms_.apply(fmt::format("{} of {}", name, thread), {}, range);
        } else {
            arguments.push_back(terms_.integer(thread));
            own[atom] = terms_.apply(name, std::move(arguments), range);
        }
    }
    const Term result = terms_.substituted(term, own);
    renamed_.emplace(key, result);
    return result;
}

bool MeetingSearch::names(std::string_view builtin, std::size_t axis) const {
    return std::ranges::any_of(kernel_.kernel.body.exprs, [&](const Expr& expr) {
        return expr.kind == ExprKind::BuiltinIndex && expr.name == builtin &&
               static_cast<std::size_t>(expr.axis) == axis;
    });
}

Term MeetingSearch::index(const char* name, std::size_t axis, int thread) {
    constexpr Wide most = (Wide{1} << 31) - 1;
    const bool isThread = std::string_view(name) == "threadIdx";
    const Term one =
        terms_.symbol(fmt::format("{}.{}", name, axes[axis]), {0, isThread ? Wide{1023} : most});
    return of(one, thread, Apart::InGrid);
}

std::vector<Term> MeetingSearch::twoThreads(Apart apart) {
    constexpr Wide most = (Wide{1} << 31) - 1;
    std::vector<Term> truths;
    Term same = terms_.truth(true);
    const auto below = [&](const char* name, const char* size, Wide limit, std::size_t axis) {
        if (!names(name, axis))
            return;
        const Term extent = terms_.symbol(fmt::format("{}.{}", size, axes[axis]), {1, limit});
        for (const int thread : {1, 2})
            truths.push_back(
                terms_.isNegative(terms_.subtract(index(name, axis, thread), extent), {}));
    };
    const char* differing = apart == Apart::InBlock ? "threadIdx" : "blockIdx";
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        below("threadIdx", "blockDim", 1024, axis);
        if (apart == Apart::InGrid)
            below("blockIdx", "gridDim", most, axis);
        if (names(differing, axis))
            same = terms_.both(same, terms_.isZero(terms_.subtract(index(differing, axis, 1),
                                                                   index(differing, axis, 2)),
                                                   {}));
        if (block_) {
            const Term extent = terms_.symbol(fmt::format("blockDim.{}", axes[axis]), {1, 1024});
            truths.push_back(
                terms_.isZero(terms_.subtract(extent, terms_.integer((*block_)[axis])), {}));
            if (!names("blockIdx", axis))
                continue;
            // Fewer than 2^31 threads are so many blocks of that size.
            const Wide threads = (*block_)[0] * (*block_)[1] * (*block_)[2];
            const Term blocks = terms_.integer((Wide{1} << 31) / std::max<Wide>(threads, 1));
            for (const int thread : {1, 2})
                truths.push_back(terms_.isNegative(
                    terms_.subtract(
                        apart == Apart::InGrid
                            ? index("blockIdx", axis, thread)
                            : terms_.symbol(fmt::format("blockIdx.{}", axes[axis]), {0, most}),
                        blocks),
                    {}));
        }
    }
    truths.push_back(terms_.negation(same));
    return truths;
}

Term MeetingSearch::mayBeTogether(const IntervalAccess& one, const IntervalAccess& other) {
    Term together = terms_.truth(false);
    for (const auto& [interval, holds] : one.intervals)
        if (const auto too = other.intervals.find(interval); too != other.intervals.end())
            together = terms_.either(together, terms_.both(of(holds, 1, Apart::InBlock),
                                                           of(too->second, 2, Apart::InBlock)));
    return together;
}

std::vector<Term> MeetingSearch::overlap(const IntervalAccess& one, const IntervalAccess& other,
                                         Apart apart) {
    const Term distance = terms_.subtract(of(one.address, 1, apart), of(other.address, 2, apart));
    return {terms_.isNegative(terms_.subtract(distance, terms_.integer(other.size)), {}),
            terms_.isNegative(terms_.subtract(terms_.multiply(terms_.integer(-1), distance),
                                              terms_.integer(one.size)),
                              {})};
}

std::string MeetingSearch::baseOf(const IntervalAccess& access) const {
    std::string found;
    for (const TermTable::Monomial& part : terms_.monomials(access.address)) {
        if (part.atoms.size() != 1 || part.factor != 1)
            continue;
        const std::string& name = terms_.functionOf(part.atoms[0]);
        const int parameter = parameterOf(terms_, part.atoms[0]);
        const bool isPointer =
            parameter >= 0 &&
            isAddress(kernel_.kernel.parameters.at(static_cast<std::size_t>(parameter)).type);
        if (!isPointer && !name.starts_with("$address of") && !name.starts_with("member:"))
            continue;
        if (!found.empty())
            return {};
        found = isPointer ? kernel_.kernel.parameters[static_cast<std::size_t>(parameter)].name
                          : fmt::format("{} {}", name, part.atoms[0]);
    }
    return found;
}

std::string MeetingSearch::exampleOf(const IntegerSolver::Numbers& numbers) const {
    std::map<std::string, std::vector<std::string>> values;
    for (const auto& [symbol, number] : numbers) {
        std::string name = terms_.functionOf(symbol).substr(1);
        if (const int parameter = parameterOf(terms_, symbol); parameter >= 0)
            name = kernel_.kernel.parameters.at(static_cast<std::size_t>(parameter)).name;
        if (name.ends_with(" of 1") || name.ends_with(" of 2"))
            name.resize(name.size() - 5);
        if (!name.starts_with("round") && !name.starts_with("address"))
            values[name].push_back(spelled(number));
    }
    std::string text;
    for (const auto& [name, both] : values) {
        text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, both.front());
        if (both.size() > 1)
            text += " and " + both[1];
    }
    return text;
}

std::optional<UnorderedThreads> MeetingSearch::judge(const Pair& pair, Apart apart) {
    const auto& [one, other] = pair;
    std::vector<Term> truths = twoThreads(apart);
    truths.push_back(of(one->guard, 1, apart));
    truths.push_back(of(other->guard, 2, apart));
    if (apart == Apart::InBlock)
        truths.push_back(mayBeTogether(*one, *other));
    for (const Term truth : overlap(*one, *other, apart))
        truths.push_back(truth);
    if (std::ranges::find(truths, terms_.truth(false)) != truths.end())
        return std::nullopt;
    const auto answer = solver_.ask(terms_, truths);
    if (answer && *answer == IntegerSolver::Answer::Never)
        return std::nullopt;
    UnorderedThreads unordered;
    unordered.reason = fmt::format(
        "threads of {} may meet on {}", apart == Apart::InBlock ? "a block" : "two blocks",
        one->line == other->line ? fmt::format("line {}", one->line)
                                 : fmt::format("lines {} and {}", one->line, other->line));
    // Writing one number twice is no mistake that a user would see, and warps may be in step.
    const bool isSameValue =
        one->isWrite && other->isWrite && of(one->value, 1, apart) == of(other->value, 2, apart);
    if (!wanted_ || trace_.synchronisesWarps || isSameValue)
        return unordered;
    for (const Wide largest : largestShown) {
        const auto numbers = solver_.example(terms_, truths, largest);
        if (!numbers)
            continue;
        unordered.meeting =
            ThreadMeeting{std::min(one->line, other->line), std::max(one->line, other->line),
                          apart == Apart::InGrid, exampleOf(*numbers)};
        break;
    }
    return unordered;
}

ThreadOrder MeetingSearch::find() {
    const auto unordered = [](std::string reason) {
        return std::unexpected(UnorderedThreads{std::move(reason), std::nullopt});
    };
    RunRules rules;
    rules.notesIntervals = true;
    const auto& parameters = kernel_.kernel.parameters;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Type& type = parameters[i].type;
        if (type.pointerDepth == 1 && type.pointeeConst && type.isRestrict)
            rules.readOnly.insert(i);
    }
    LoopRecords records;
    auto trace = ThreadRun(terms_, kernel_, rules, records, true).run();
    if (!trace)
        return unordered(std::move(trace).error());
    trace_ = std::move(*trace);
    OrderedThreads ordered;
    std::vector<std::pair<Pair, Apart>> pairs;
    const auto& accesses = trace_.intervalAccesses;
    const bool hasThreads = names("threadIdx", 0) || names("threadIdx", 1) || names("threadIdx", 2);
    const bool hasBlocks = names("blockIdx", 0) || names("blockIdx", 1) || names("blockIdx", 2);
    const auto isRestrict = [&](const std::string& name) {
        const auto parameter = std::ranges::find(parameters, name, &Parameter::name);
        return parameter != parameters.end() && parameter->type.isRestrict;
    };
    for (std::size_t i = 0; i < accesses.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            const IntervalAccess& one = accesses[i];
            const IntervalAccess& other = accesses[j];
            if ((!one.isWrite && !other.isWrite) || one.memory != other.memory)
                continue;
            const bool mayMeet = std::ranges::any_of(one.intervals, [&](const auto& interval) {
                return other.intervals.contains(interval.first);
            });
            if (!mayMeet && (one.memory != "global" || !hasBlocks))
                continue;
            const std::string base = baseOf(one);
            const std::string otherBase = baseOf(other);
            if (base.empty() || otherBase.empty())
                return unordered(onLine("an address of unknown origin", one.line));
            if (base != otherBase) {
                if (one.memory == "dynamic")
                    return unordered(onLine("arrays in one memory", one.line));
                if (!isRestrict(base) && !isRestrict(otherBase)) {
                    overlapping_.insert(base);
                    overlapping_.insert(otherBase);
                }
                continue;
            }
            ordered.sharesMemory = ordered.sharesMemory || one.memory != "global";
            const bool areAtomic = one.isAtomic && other.isAtomic;
            const bool isScoped = one.isOfBlock || other.isOfBlock;
            if (hasThreads && mayMeet && !areAtomic)
                pairs.push_back({{&one, &other}, Apart::InBlock});
            if (hasBlocks && one.memory == "global" && (!areAtomic || isScoped))
                pairs.push_back({{&one, &other}, Apart::InGrid});
        }
    if (pairs.size() > maxPairs)
        return unordered("too many pairs of accesses to decide");
    std::optional<UnorderedThreads> first;
    int undecided = 0;
    for (const auto& [pair, apart] : pairs) {
        auto found = judge(pair, apart);
        if (!found)
            continue;
        if (!first || found->meeting)
            first = std::move(found);
        if (!wanted_ || first->meeting || ++undecided == maxUndecided)
            break;
    }
    if (first)
        return std::unexpected(std::move(*first));
    if (block_)
        ordered.conditions.push_back(fmt::format("blocks have {} x {} x {} threads",
                                                 spelled((*block_)[0]), spelled((*block_)[1]),
                                                 spelled((*block_)[2])));
    if (terms_.usedFewThreads() || block_)
        ordered.conditions.emplace_back("there are fewer than 2^31 threads");
    std::string names;
    for (const std::string& name : overlapping_)
        if (std::ranges::find(parameters, name, &Parameter::name) != parameters.end())
            names += (names.empty() ? "" : ", ") + name;
    if (!names.empty())
        ordered.conditions.push_back(names + " do not overlap");
    return ordered;
}

} // namespace

std::string ThreadMeeting::sentence() const {
    const std::string lines = line == otherLine
                                  ? fmt::format("on line {}", line)
                                  : fmt::format("on lines {} and {}", line, otherLine);
    return fmt::format("two threads of {} touch one byte {} with nothing between that orders them, "
                       "for {}",
                       isOfTwoBlocks ? "two blocks" : "one block", lines, example);
}

std::string OrderedThreads::sentence() const {
    std::string text = "no two threads race, for all sizes";
    for (std::size_t i = 0; i < conditions.size(); ++i)
        text += (i == 0 ? ", if " : " and ") + conditions[i];
    return text;
}

ThreadOrder orderOfThreads(KernelRef kernel, IntegerSolver& solver, bool wanted,
                           std::optional<std::array<Wide, 3>> block) {
    return MeetingSearch(kernel, solver, wanted, block).find();
}

} // namespace kernelskill::engine
