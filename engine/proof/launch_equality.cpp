#include "engine/proof/launch_equality.h"

#include "engine/proof/thread_run.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

std::unexpected<Unproved> failure(std::string reason) {
    return std::unexpected(Unproved{std::move(reason)});
}

constexpr Wide most = (Wide{1} << 31) - 1;

/// The terms of a thread's place along x.
struct Position {
    Term thread, block, size, grid;

    explicit Position(TermTable& terms)
        : thread(terms.symbol("threadIdx.x", {0, 1023})),
          block(terms.symbol("blockIdx.x", {0, most})), size(terms.symbol("blockDim.x", {1, 1024})),
          grid(terms.symbol("gridDim.x", {1, most})) {}
};

/// Finds out whether terms follow from the number of the thread in the grid alone.
class PositionCheck {
public:
    PositionCheck(TermTable& terms, bool sameTotal)
        : terms_(terms), position_(terms), sameTotal_(sameTotal) {}

    [[nodiscard]] bool holds(Term term) {
        if (!seen_.insert(term).second)
            return true;
        const std::string& function = terms_.functionOf(term);
        if (!function.empty()) {
            const bool isPlace =
                function.starts_with("$threadIdx") || function.starts_with("$blockIdx") ||
                function.starts_with("$blockDim") || function.starts_with("$gridDim");
            // What a user's function asks of its place, and what works within a block.
            const bool isUnknown =
                function.starts_with("effect:users call") ||
                (function.starts_with("effect:atomic") && function.contains("_block"));
            const std::vector<Term> arguments = terms_.arguments(term);
            return !isPlace && !isUnknown &&
                   std::ranges::all_of(arguments, [&](Term part) { return holds(part); });
        }
        const std::vector<TermTable::Monomial> parts = terms_.monomials(term);
        const Wide factor = factorOf(parts, {position_.block, position_.size});
        if (factor != factorOf(parts, {position_.thread}))
            return false;
        const auto number = [&](std::vector<Term> atoms) {
            std::ranges::sort(atoms);
            return atoms;
        };
        for (const TermTable::Monomial& part : parts) {
            const bool isNumber = part.atoms == number({position_.block, position_.size}) ||
                                  part.atoms == number({position_.thread});
            const bool isTotal =
                sameTotal_ && part.atoms == number({position_.grid, position_.size});
            if (!isNumber && !isTotal &&
                !std::ranges::all_of(part.atoms, [&](Term atom) { return holds(atom); }))
                return false;
        }
        return true;
    }

    /// The parameter below which the thread's number is, if the facts say so.
    [[nodiscard]] std::optional<std::size_t> bound(const Facts& facts,
                                                   std::size_t parameters) const {
        for (const Term literal : facts) {
            const std::vector<Term>* negative = terms_.argumentsOf(literal, "negative");
            if (negative == nullptr)
                continue;
            const std::vector<TermTable::Monomial> parts = terms_.monomials(negative->front());
            const Wide constant = factorOf(parts, {});
            const bool isNumber = factorOf(parts, {position_.block, position_.size}) == 1 &&
                                  factorOf(parts, {position_.thread}) == 1;
            if (!isNumber || constant < 0 || parts.size() != (constant == 0 ? 3U : 4U))
                continue;
            for (std::size_t i = 0; i < parameters; ++i)
                for (const TermTable::Monomial& part : parts)
                    if (part.factor == -1 && part.atoms.size() == 1 &&
                        terms_.functionOf(part.atoms[0]) == fmt::format("$parameter{}", i))
                        return i;
        }
        return std::nullopt;
    }

private:
    static Wide factorOf(const std::vector<TermTable::Monomial>& parts, std::vector<Term> atoms) {
        std::ranges::sort(atoms);
        const auto part = std::ranges::find(parts, atoms, &TermTable::Monomial::atoms);
        return part == parts.end() ? 0 : part->factor;
    }

    TermTable& terms_;
    Position position_;
    bool sameTotal_;
    std::set<Term> seen_;
};

/// The grid of a launch, as it is written.
class LaunchText {
public:
    LaunchText(KernelRef kernel, const LaunchSite& site)
        : kernel_(kernel), site_(site), body_(kernel.file().hostFunctions.at(site.host).body) {}

    /// Threads of a block along x; nullopt unless the block is one-dimensional and constant.
    [[nodiscard]] std::optional<std::int64_t> block() const {
        const auto& block = site_.constantBlock;
        if (block.empty() || block[0] <= 0)
            return std::nullopt;
        for (std::size_t axis = 1; axis < block.size(); ++axis)
            if (block[axis] != 1)
                return std::nullopt;
        return block[0];
    }

    [[nodiscard]] ExprId blocks() const {
        const ExprId grid = bare(site_.grid);
        if (grid == noId)
            return noId;
        const Expr& list = body_.expr(grid);
        if (list.kind != ExprKind::InitList)
            return isAddressOrClass(list.type) ? noId : grid;
        for (std::size_t i = 1; i < list.children.size(); ++i)
            if (number(list.children[i]) != 1)
                return noId;
        return list.children.empty() ? noId : bare(list.children[0]);
    }

    /// A number of elements, as a text or as a constant, for each of which there is a thread.
    struct Covered {
        std::string text;
        std::optional<std::int64_t> constant;
    };
    [[nodiscard]] std::vector<Covered> covered(ExprId grid, std::int64_t block) const {
        grid = bare(grid);
        if (grid == noId || block <= 0)
            return {};
        const Expr& expr = body_.expr(grid);
        if (const auto value = number(grid))
            return {{"", *value * block}};
        if (expr.kind != ExprKind::Binary || expr.children.size() != 2)
            return {};
        const ExprId left = bare(expr.children[0]);
        const auto right = number(expr.children[1]);
        if (expr.op == "*" && right && *right > 0)
            return covered(left, block * *right);
        if (expr.op != "/" || !right || *right <= 0 || left == noId)
            return {};
        const Expr& sum = body_.expr(left);
        if (sum.kind != ExprKind::Binary || sum.op != "+" || sum.children.size() != 2)
            return {};
        const auto added = number(sum.children[1]);
        if (!added || *added < *right - 1)
            return {};
        const ExprId counted = bare(sum.children[0]);
        std::vector<Covered> found;
        if (*right == block)
            found.push_back({text(counted), number(counted)});
        const bool divides = block % *right == 0;
        const std::vector<Covered> more = *right == block ? elementsOf(counted)
                                          : divides       ? covered(counted, block / *right)
                                                          : std::vector<Covered>{};
        found.insert(found.end(), more.begin(), more.end());
        return found;
    }

    [[nodiscard]] std::string argument(std::size_t index) const {
        return index < site_.argumentSpans.size() ? slice(site_.argumentSpans[index])
                                                  : std::string();
    }
    [[nodiscard]] std::optional<std::int64_t> argumentValue(std::size_t index) const {
        return index < site_.arguments.size() ? number(site_.arguments[index]) : std::nullopt;
    }
    /// Shared bytes and stream.
    [[nodiscard]] std::string rest() const {
        return text(site_.sharedBytes) + "," + text(site_.stream);
    }
    /// The factors of a product of blocks and threads, constants multiplied.
    [[nodiscard]] std::pair<std::string, std::int64_t> total(ExprId grid,
                                                             std::int64_t block) const {
        grid = bare(grid);
        if (const auto value = number(grid))
            return {"", *value * block};
        const Expr& expr = body_.expr(grid);
        if (expr.kind == ExprKind::Binary && expr.op == "*" && number(expr.children[1]))
            return total(expr.children[0], block * *number(expr.children[1]));
        return {text(grid), block};
    }

private:
    /// `counted` elements: X * f of them are those of X blocks of f threads.
    [[nodiscard]] std::vector<Covered> elementsOf(ExprId counted) const {
        const Expr& expr = body_.expr(counted);
        if (expr.kind != ExprKind::Binary || expr.op != "*" || expr.children.size() != 2)
            return {};
        const auto factor = number(expr.children[1]);
        return factor ? covered(expr.children[0], *factor) : std::vector<Covered>{};
    }
    static bool isAddressOrClass(const Type& type) { return !isPlainNumber(type); }
    [[nodiscard]] ExprId bare(ExprId id) const {
        while (id != noId && body_.expr(id).kind == ExprKind::Cast)
            id = body_.expr(id).children.front();
        return id;
    }
    [[nodiscard]] std::optional<std::int64_t> number(ExprId id) const {
        id = bare(id);
        if (id == noId)
            return std::nullopt;
        const Expr& expr = body_.expr(id);
        if (expr.kind == ExprKind::Integer && expr.integer != 0)
            return expr.integer;
        if (expr.kind == ExprKind::Variable && expr.variable != noId)
            return body_.variable(expr.variable).constantValue;
        return std::nullopt;
    }
    [[nodiscard]] std::string text(ExprId id) const {
        return id == noId ? std::string() : slice(body_.expr(id).span);
    }
    [[nodiscard]] std::string slice(Span span) const {
        const SourceText* source = sourceOf(kernel_.file(), site_);
        return source == nullptr ? std::string() : std::string(source->slice(span));
    }

    KernelRef kernel_;
    const LaunchSite& site_;
    const FunctionBody& body_;
};

bool covers(const LaunchText& launch, std::size_t parameter) {
    const auto block = launch.block();
    if (!block)
        return false;
    const std::vector<LaunchText::Covered> counts = launch.covered(launch.blocks(), *block);
    return std::ranges::any_of(counts, [&](const LaunchText::Covered& count) {
        const auto wanted = launch.argumentValue(parameter);
        return (!count.text.empty() && count.text == launch.argument(parameter)) ||
               (count.constant && wanted && *count.constant >= *wanted);
    });
}

} // namespace

namespace {

using LaunchProof = std::expected<std::vector<std::string>, Unproved>;

LaunchProof proveLaunchesUnder(LaunchAssumptions assumptions, KernelRef original,
                               KernelRef candidate) {
    const KernelModel& kernel = candidate.kernel;
    if (!kernel.sharedArrays.empty() || !kernel.barriers.empty() || !kernel.warpOperations.empty())
        return failure("threads of a block work together, and the block is changed");
    TermTable terms(assumptions);
    LoopRecords records;
    const auto trace = ThreadRun(terms, candidate, {}, records, true).run();
    if (!trace)
        return failure(fmt::format("the launch is changed, and the kernel has {}", trace.error()));
    bool sameTotal = true;
    for (std::size_t i = 0; i < kernel.launches.size(); ++i) {
        const LaunchText before(original, original.kernel.launches[i]);
        const LaunchText after(candidate, kernel.launches[i]);
        if (!before.block() || !after.block() || before.blocks() == noId || after.blocks() == noId)
            return failure("the grid or the block of a changed launch is not one-dimensional");
        if (before.rest() != after.rest())
            return failure("the shared memory or the stream of a launch is changed");
        if (kernel.launchBoundsThreads && *after.block() > *kernel.launchBoundsThreads)
            return failure("the block is larger than the kernel's launch bounds");
        sameTotal = sameTotal && before.total(before.blocks(), *before.block()) ==
                                     after.total(after.blocks(), *after.block());
    }
    PositionCheck position(terms, sameTotal);
    std::vector<Term> all{trace->effects};
    for (const LoopRecord& record : records) {
        all.insert(all.end(),
                   {record.guard, record.condition, record.effects, record.alive, record.inLoop});
        for (const auto* slots : {&record.variables, &record.memories})
            for (const auto& [name, slot] : *slots)
                all.insert(all.end(), {slot.before, slot.after});
    }
    if (!std::ranges::all_of(all, [&](Term term) { return position.holds(term); }))
        return failure("the launch is changed, and a thread does not follow from its number alone");
    std::vector<std::string> conditions;
    if (assumptions.fewThreads)
        conditions.emplace_back("there are fewer than 2^31 threads");
    if (sameTotal)
        return conditions;
    for (const auto& [place, ways] : trace->reads)
        for (const Facts& way : ways)
            if (!position.bound(way, kernel.parameters.size()))
                return failure(fmt::format("the launch is changed, and the read on line {} is not "
                                           "guarded by the number of elements",
                                           trace->lines.at(place)));
    for (const ThreadTrace::Effect& effect : trace->log) {
        const std::vector<Term> then = terms.arguments(effect.upTo);
        if (then.size() != 2 || terms.functionOf(effect.upTo) != "then")
            return failure("the launch is changed, and the kernel calls what is not followed");
        const Term guard = terms.arguments(then[1]).front();
        if (std::ranges::any_of(records, [&](const LoopRecord& record) {
                return guard != record.guard &&
                       std::ranges::includes(terms.literals(guard), terms.literals(record.guard));
            }))
            continue; // in a loop that is guarded itself
        const auto parameter = position.bound(terms.literals(guard), kernel.parameters.size());
        if (!parameter)
            return failure(fmt::format("the launch is changed, and line {} is not guarded by the "
                                       "number of elements",
                                       effect.line));
        for (std::size_t i = 0; i < kernel.launches.size(); ++i)
            if (!covers(LaunchText(original, original.kernel.launches[i]), *parameter) ||
                !covers(LaunchText(candidate, kernel.launches[i]), *parameter))
                return failure(fmt::format("a changed launch may leave out some of {}",
                                           kernel.parameters[*parameter].name));
    }
    return conditions;
}

} // namespace

bool launchesCover(KernelRef kernel, std::size_t parameter) {
    return !kernel.kernel.launches.empty() &&
           std::ranges::all_of(kernel.kernel.launches, [&](const LaunchSite& launch) {
               return covers(LaunchText(kernel, launch), parameter);
           });
}

std::expected<std::vector<std::string>, Unproved> proveLaunches(KernelRef original,
                                                                KernelRef candidate) {
    if (LaunchProof proof = proveLaunchesUnder({}, original, candidate))
        return proof;
    return proveLaunchesUnder({.fewThreads = true}, original, candidate);
}

} // namespace kernelskill::engine
