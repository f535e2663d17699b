#include "engine/proof/shared_work.h"

#include "engine/proof/access_order.h"
#include "engine/proof/launch_coverage.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <expected>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

constexpr const char* moreBits = "the number of a thread is kept in fewer bits";

/// One attempt to prove it.
class WorkComparison {
public:
    WorkComparison(KernelRef original, KernelRef candidate, bool changesLaunches,
                   LaunchAssumptions assumptions, std::stop_token stop)
        : original_(original), candidate_(candidate), changesLaunches_(changesLaunches),
          assumptions_(assumptions), stop_(std::move(stop)), terms_(assumptions),
          integers_(terms_, nullptr, stop_), order_(terms_, integers_, candidate.kernel) {
        number_ = numberOfThread(terms_, assumptions);
        terms_.placeThreads(number_);
        terms_.consult([this](Term term, const IntegerRange& range, const Facts& facts) {
            return integers_.within(term, range, facts);
        });
        // A thread's number is below that of all threads.
        const Term threads = terms_.multiply(terms_.symbol("gridDim.x", {1, (Wide{1} << 31) - 1}),
                                             terms_.symbol("blockDim.x", {1, 1024}));
        integers_.assume(terms_.isNegative(terms_.subtract(number_, threads), {}));
    }

    [[nodiscard]] Proof prove();

private:
    using Reason = std::optional<std::string>;

    [[nodiscard]] std::expected<WorkItem, std::string> itemAt(Term number);
    [[nodiscard]] Reason checkForm(const ThreadTrace& trace, bool isOriginal);
    [[nodiscard]] Reason checkOrder(const std::vector<SharedSection>& shared);
    [[nodiscard]] Reason checkArithmetic(const std::vector<SharedSection>& shared);
    [[nodiscard]] Reason checkLaunches(const std::vector<SharedSection>& shared);
    [[nodiscard]] Reason takeApart();
    [[nodiscard]] RunRules rules() const;
    [[nodiscard]] std::optional<Term> countOf(const ThreadAccess& access, Term number);
    /// The largest number that the original may work for.
    [[nodiscard]] Wide lastItem() const {
        return loops_ ? valuesOf(ScalarKind::Int64).high : lastThread(assumptions_);
    }

    KernelRef original_;
    KernelRef candidate_;
    bool changesLaunches_;
    LaunchAssumptions assumptions_;
    std::stop_token stop_;
    TermTable terms_;
    IntegerFacts integers_;
    AccessOrder order_;
    Term number_ = 0;
    ThreadTrace before_;
    ThreadTrace after_;
    bool loops_ = false; ///< The original works in a loop over the grid.
    std::set<std::string> conditions_;
};

/// Returns the bound of the number where the access is made.
std::optional<Term> WorkComparison::countOf(const ThreadAccess& access, Term number) {
    for (const Term literal : terms_.literals(access.guard)) {
        const std::vector<Term>* negative = terms_.argumentsOf(literal, "negative");
        if (negative == nullptr)
            continue;
        const Term count = terms_.subtract(number, negative->front());
        if (!terms_.mentions(count, number))
            return count;
    }
    return std::nullopt;
}

RunRules WorkComparison::rules() const {
    RunRules rules;
    rules.notesAccesses = true;
    rules.stop = stop_;
    return rules;
}

/// Runs the original for the number, whichever thread works for it.
std::expected<WorkItem, std::string> WorkComparison::itemAt(Term number) {
    LoopRecords records;
    RunRules rules = this->rules();
    std::expected<ThreadTrace, std::string> trace;
    const auto run = [&] {
        ThreadRun thread(terms_, original_, rules, records, true);
        thread.relyOn(&integers_);
        trace = thread.run();
    };
    if (loops_) {
        rules.item = number;
        run();
    } else {
        terms_.placeThreadsAt(number, {0, lastThread(assumptions_)}, run);
    }
    if (!trace)
        return std::unexpected(trace.error());
    return WorkItem{number, std::move(*trace)};
}

/// Requires what is done to follow from the number that it is done for.
WorkComparison::Reason WorkComparison::checkForm(const ThreadTrace& trace, bool isOriginal) {
    std::set<Term> seen;
    for (const ThreadAccess& access : trace.accesses)
        for (const Term term : {access.address, access.value, access.guard}) {
            const bool isOfThread = access.section > 0 && terms_.mentions(term, number_);
            if (isOfThread || hasPlace(terms_, term, false, seen))
                return fmt::format("{}line {} does not follow from the thread's number alone",
                                   isOriginal ? "the original's " : "", access.line);
        }
    return std::nullopt;
}

WorkComparison::Reason WorkComparison::checkOrder(const std::vector<SharedSection>& shared) {
    const auto one = itemAt(terms_.symbol("one item", {0, lastItem()}));
    const auto other = itemAt(terms_.symbol("other item", {0, lastItem()}));
    if (!one || !other)
        return "the original is not followed";
    if (auto reason = order_.checkItem(one->trace))
        return reason;
    if (loops_)
        if (auto reason = order_.checkItemsApart(*one, *other))
            return reason;
    for (const SharedSection& section : shared)
        if (auto reason = order_.checkSection(after_, section))
            return reason;
    return takeApart();
}

/// Turns what was taken not to overlap into a condition.
WorkComparison::Reason WorkComparison::takeApart() {
    if (order_.apart().empty())
        return std::nullopt;
    const auto& parameters = candidate_.kernel.parameters;
    std::string names;
    for (const std::size_t parameter : order_.apart())
        names += (names.empty() ? "" : ", ") + parameters.at(parameter).name;
    for (const LaunchSite& site : candidate_.kernel.launches) {
        const LaunchText launch(candidate_, site);
        std::set<std::string> passed;
        for (const std::size_t parameter : order_.apart())
            if (!passed.insert(launch.argument(parameter)).second)
                return fmt::format("a launch passes one pointer for two of {}", names);
    }
    conditions_.insert(fmt::format("{} do not overlap", names));
    return std::nullopt;
}

/// Requires that nothing overflows, and is divided by zero, that does not in the original, and
/// that vectors are aligned.
WorkComparison::Reason WorkComparison::checkArithmetic(const std::vector<SharedSection>& shared) {
    std::set<Term> sums = before_.mayOverflow;
    std::set<Term> divisors = before_.divisors;
    std::set<std::pair<Term, Wide>> aligned;
    for (const SharedSection& section : shared)
        for (const WorkItem& item : section.items) {
            sums.insert(item.trace.mayOverflow.begin(), item.trace.mayOverflow.end());
            divisors.insert(item.trace.divisors.begin(), item.trace.divisors.end());
            for (const auto& [access, condition] : item.trace.aligned)
                aligned.insert(access);
        }
    for (const Term sum : after_.mayOverflow)
        if (!sums.contains(sum))
            return fmt::format("arithmetic that may overflow where the original's does not on "
                               "line {}",
                               after_.lines.at(sum));
    for (const Term divisor : after_.divisors)
        if (!divisors.contains(divisor))
            return fmt::format("a divisor that may be zero on line {}", after_.lines.at(divisor));
    for (const auto& [access, condition] : after_.aligned)
        if (!condition.empty() && !aligned.contains(access))
            conditions_.insert(condition);
    return std::nullopt;
}

/// Requires threads for all numbers, of which each does as many as a section has items.
WorkComparison::Reason WorkComparison::checkLaunches(const std::vector<SharedSection>& shared) {
    const auto& launches = candidate_.kernel.launches;
    const bool isOwn = shared.front().section == 0;
    const auto width = static_cast<std::int64_t>(shared.front().items.size());
    if (changesLaunches_)
        for (std::size_t i = 0; i < launches.size(); ++i) {
            const LaunchText before(original_, original_.kernel.launches[i]);
            const LaunchText after(candidate_, launches[i]);
            if (!before.block() || !after.block() || before.blocks() == noId ||
                after.blocks() == noId)
                return "the grid or the block of a changed launch is not one-dimensional";
            if (before.rest() != after.rest())
                return "the shared memory or the stream of a launch is changed";
            const auto most = candidate_.kernel.launchBoundsThreads.value_or(1024);
            if (*after.block() > most)
                return "the block is larger than the kernel's launch bounds";
        }
    if (loops_ && !isOwn)
        return std::nullopt;
    const auto item = itemAt(terms_.symbol("any item", {0, lastItem()}));
    if (!item)
        return item.error();
    for (const ThreadAccess& access : item->trace.accesses) {
        if (!access.isWrite)
            continue;
        const std::optional<Term> count = countOf(access, item->number);
        if (!count)
            return fmt::format("line {} of the original is not guarded by the number of elements",
                               access.line);
        const bool wasCovered = loops_ || launchesCover(terms_, original_, *count);
        const bool isCovered = !isOwn || launchesCover(terms_, candidate_, *count, width);
        if (wasCovered && isCovered)
            continue;
        // The launch has as many numbers as before, if not all.
        for (std::size_t i = 0; isOwn && i < launches.size(); ++i)
            if (loops_ || !LaunchText(candidate_, launches[i])
                               .reaches(LaunchText(original_, original_.kernel.launches[i]), width))
                return fmt::format("a launch may leave out some of {}",
                                   nameOfCount(terms_, candidate_, *count));
        conditions_.insert(fmt::format("the original's grid has a thread for each of {}",
                                       nameOfCount(terms_, candidate_, *count)));
    }
    return std::nullopt;
}

Proof WorkComparison::prove() {
    LoopRecords records;
    const auto runOf = [&](KernelRef kernel, bool isOriginal) {
        ThreadRun thread(terms_, kernel, rules(), records, isOriginal);
        thread.relyOn(&integers_);
        return thread.run();
    };
    auto before = runOf(original_, true);
    if (!before)
        return unproved(fmt::format("the original has {}", before.error()));
    if (assumptions_.fewThreads && !terms_.usedFewThreads())
        return unproved(moreBits);
    before_ = std::move(*before);
    // A number that may wrap around proves nothing for several at once.
    for (const ThreadAccess& access : before_.accesses)
        for (const char* wrap : {"wraps32", "wrapu32"})
            for (const Term wrapped : terms_.within(access.address, wrap))
                if (terms_.mentions(wrapped, number_))
                    return unproved("the number of a thread may not fit its type");
    loops_ = before_.sections.size() > 1;
    const bool isWhole = std::ranges::all_of(before_.accesses, [&](const ThreadAccess& access) {
        return (access.section == 1) == loops_;
    });
    if (before_.sections.size() > 2 || !isWhole ||
        before_.sections.back().first != terms_.integer(0))
        return unproved("the original does more than one loop over the grid");
    if (auto reason = checkForm(before_, true))
        return unproved(std::move(*reason));
    // checkLaunches() sees to it that there is a thread for each number.
    for (const ThreadAccess& access : before_.accesses)
        if (const auto count = countOf(access, number_); count && access.isWrite && !loops_)
            integers_.assume(terms_.negation(
                terms_.isNegative(terms_.subtract(terms_.integer(lastItem() + 1), *count), {})));
    auto after = runOf(candidate_, false);
    if (!after)
        return unproved(after.error());
    after_ = std::move(*after);
    if (auto reason = checkForm(after_, false))
        return unproved(std::move(*reason));
    WorkMatch match(
        terms_, integers_, after_, [this](Term number) { return itemAt(number); }, lastItem());
    const auto shared = match.find();
    if (!shared)
        return unproved(shared.error());
    const bool isAsBefore = shared->size() == 1 && shared->front().items.size() == 1 &&
                            (shared->front().section > 0) == loops_;
    if (isAsBefore && !changesLaunches_)
        return unproved("each thread works for the same numbers as before");
    for (auto check : {&WorkComparison::checkOrder, &WorkComparison::checkArithmetic,
                       &WorkComparison::checkLaunches})
        if (auto reason = (this->*check)(*shared))
            return unproved(std::move(*reason));
    Proved proved;
    conditions_.insert(before_.conditions.begin(), before_.conditions.end());
    conditions_.insert(after_.conditions.begin(), after_.conditions.end());
    proved.conditions.assign(conditions_.begin(), conditions_.end());
    if (assumptions_.fewThreads)
        proved.conditions.emplace_back("there are fewer than 2^31 threads");
    return proved;
}

} // namespace

Proof proveSharedWork(KernelRef original, KernelRef candidate, bool changesLaunches,
                      const std::stop_token& stop) {
    Proof proof = WorkComparison(original, candidate, changesLaunches, {}, stop).prove();
    if (proof)
        return proof;
    Proof ofFew =
        WorkComparison(original, candidate, changesLaunches, {.fewThreads = true}, stop).prove();
    return ofFew || ofFew.error().reason != moreBits ? std::move(ofFew) : std::move(proof);
}

} // namespace kernelskill::engine
