#include "skills/launch-tuning/following_grid.h"

#include "analysis/syntax/lexer.h"
#include "skills/launch-tuning/sampled_values.h"

#include <algorithm>
#include <map>
#include <string>

namespace kernelskill::skills {

using namespace analysis;

namespace {

std::int64_t quotient(std::int64_t elements, std::int64_t threads) {
    return (elements + threads - 1) / threads;
}

/// One launch, in a copy of its host function in which the block's numbers can be changed.
class FollowingLaunch {
public:
    FollowingLaunch(const SkillContext& context, const LaunchSite& launch)
        : context_(context), source_(*context.file.source), launch_(launch),
          body_(withoutConstants(context.file.hostFunctions[launch.host].body)), host_(body_),
          values_(context, host_) {}

    /// Notes the edits of the launch; false if it cannot be changed in this way.
    [[nodiscard]] bool change(const GridAxes& axes, const Extents& from, const Extents& to) {
        const std::vector<ExprId> block = axesOf(launch_.block);
        const std::vector<ExprId> grid = axesOf(launch_.grid);
        for (std::size_t axis = 0; axis < from.size(); ++axis)
            if (from[axis] != to[axis] && (axis >= block.size() || axis >= grid.size() ||
                                           !changeAxis(block[axis], {axis, from[axis], to[axis]})))
                return false;
        for (std::size_t axis = 0; axis < from.size(); ++axis)
            if (axis < grid.size() &&
                !follows(grid[axis], axes[axis].limits, {axis, from[axis], to[axis]}))
                return false;
        return isOnlyForLaunches();
    }
    [[nodiscard]] const std::map<Span, std::string>& edits() const { return edits_; }

private:
    struct Change {
        std::size_t axis;
        std::int64_t from;
        std::int64_t to;
    };
    /// A number in the code that becomes the number of threads along an axis, plus `more`.
    struct ChangedNumber {
        std::size_t axis = 0;
        std::int64_t more = 0;
    };

    /// Removes the constant values of locals, so that they follow from their initialisers, which
    /// change.
    static FunctionBody withoutConstants(FunctionBody body) {
        for (Variable& variable : body.variables)
            if (variable.storage == Storage::Local && variable.init != noId)
                variable.constantValue.reset();
        return body;
    }
    [[nodiscard]] const Expr& expr(ExprId id) const { return body_.expr(id); }

    /// The extents of a grid or block along its axes, also of one in a variable.
    [[nodiscard]] std::vector<ExprId> axesOf(ExprId id) const {
        id = host_.withoutCasts(id);
        if (isDim3Name(expr(id))) {
            const ExprId fixed =
                expr(id).variable == noId ? noId : values_.fixedValue(expr(id).variable);
            if (fixed == noId)
                return {};
            id = host_.withoutCasts(fixed);
        }
        return expr(id).kind == ExprKind::InitList ? expr(id).children : std::vector{id};
    }

    /// The expression that a local is set to, for other expressions `id` itself.
    [[nodiscard]] ExprId definitionOf(ExprId id) const {
        id = host_.withoutCasts(id);
        if (expr(id).kind != ExprKind::Variable || expr(id).variable == noId ||
            body_.variable(expr(id).variable).storage != Storage::Local)
            return id;
        const ExprId fixed = values_.fixedValue(expr(id).variable);
        return fixed == noId ? id : host_.withoutCasts(fixed);
    }

    /// Whether the expression is a number or a name, written as a single word.
    [[nodiscard]] bool isWord(ExprId id) const {
        const Expr& number = expr(id);
        if (number.kind != ExprKind::Integer && number.kind != ExprKind::Variable)
            return false;
        const std::vector<Token> words = lex(source_.slice(number.span));
        return words.size() == 1 &&
               (words[0].kind == TokenKind::Number || words[0].kind == TokenKind::Identifier);
    }

    /// Whether the expression is a number, or a constant that is not local.
    [[nodiscard]] bool isNamedOutside(ExprId id) const {
        const Expr& number = expr(id);
        return number.kind == ExprKind::Integer ||
               (number.kind == ExprKind::Variable && number.variable != noId &&
                body_.variable(number.variable).constantValue);
    }

    /// Notes that the number becomes `value`, as `number` says; false if it cannot.
    [[nodiscard]] bool note(ExprId id, ChangedNumber number, std::int64_t value) {
        if (!isWord(id))
            return false;
        const auto [known, isNew] = numbers_.try_emplace(id, number);
        if (!isNew)
            return known->second.axis == number.axis && known->second.more == number.more;
        Expr& changed = body_.exprs[id];
        edits_[changed.span] = std::to_string(value);
        changed.kind = ExprKind::Integer;
        changed.variable = noId;
        return true;
    }

    [[nodiscard]] bool changeAxis(ExprId extent, const Change& change) {
        const ExprId number = definitionOf(extent);
        return values_.value(number) == change.from && note(number, {change.axis, 0}, change.to);
    }

    void setThreads(std::size_t axis, std::int64_t threads) {
        for (const auto& [id, number] : numbers_)
            if (number.axis == axis)
                body_.exprs[id].integer = threads + number.more;
    }

    /// Whether the blocks along the axis are the elements over the threads, rounded up, before and
    /// after.
    [[nodiscard]] bool isRoundedUp(ExprId blocks, const std::vector<IndexExpression>& limits,
                                   const Change& change) {
        bool covers = true;
        bool isExact = true;
        for (const std::int64_t sample : samples) {
            values_.setSample(sample);
            const auto with = [&](std::int64_t threads) {
                setThreads(change.axis, threads);
                return values_.extents(blocks)[0]; // Also of `ceil(n / 32.0)`.
            };
            const auto elements = with(1);
            const auto before = with(change.from);
            const auto after = with(change.to);
            if (!elements || *elements < 1 || before != quotient(*elements, change.from) ||
                after != quotient(*elements, change.to))
                return false;
            isExact = isExact && *before * change.from == *after * change.to;
            for (const IndexExpression& limit : limits) {
                const auto value = values_.limit(limit, launch_);
                covers = covers && value && *value <= *elements;
            }
        }
        return isExact || (!limits.empty() && covers);
    }

    [[nodiscard]] bool follows(ExprId blocks, const std::vector<IndexExpression>& limits,
                               const Change& change) {
        if (change.from == change.to)
            return staysAsItIs(blocks);
        if (isRoundedUp(blocks, limits, change))
            return true;
        return noteLiterals(definitionOf(blocks), change) && isRoundedUp(blocks, limits, change);
    }

    /// Whether the blocks along an axis do not depend on a changed number.
    [[nodiscard]] bool staysAsItIs(ExprId blocks) const {
        const auto below = host_.expressionsBelow(definitionOf(blocks));
        return std::ranges::none_of(below, [&](ExprId id) { return numbers_.contains(id); });
    }

    /// Notes the numbers that repeat the threads of the block in `(n + 255) / 256`.
    [[nodiscard]] bool noteLiterals(ExprId blocks, const Change& change) {
        std::vector<ExprId> divisors;
        for (const ExprId id : host_.expressionsBelow(blocks))
            if (expr(id).kind == ExprKind::Binary && expr(id).op == "/" &&
                values_.value(host_.withoutCasts(expr(id).children[1])) == change.from)
                divisors.push_back(id);
        if (divisors.size() != 1)
            return false;
        const ExprId divisor = host_.withoutCasts(expr(divisors[0]).children[1]);
        if (!numbers_.contains(divisor) && !note(divisor, {change.axis, 0}, change.to))
            return false;
        std::vector<ExprId> added;
        for (const ExprId id : host_.expressionsBelow(expr(divisors[0]).children[0]))
            if (expr(id).kind == ExprKind::Binary && (expr(id).op == "+" || expr(id).op == "-"))
                for (const ExprId child : expr(id).children)
                    if (const ExprId part = host_.withoutCasts(child);
                        !numbers_.contains(part) && expr(part).children.empty())
                        added.push_back(part);
        std::ranges::sort(added);
        added.erase(std::ranges::unique(added).begin(), added.end());
        const auto noteAll = [&](std::int64_t more) {
            std::erase_if(added, [&](ExprId id) { return numbers_.contains(id); });
            const auto is = [&](ExprId id) {
                return isNamedOutside(id) && values_.value(id) == change.from + more;
            };
            const auto count = std::ranges::count_if(added, is);
            return count == 0 || (count == 1 && note(*std::ranges::find_if(added, is),
                                                     {change.axis, more}, change.to + more));
        };
        return noteAll(-1) && noteAll(0);
    }

    /// Whether the variables that change with the edits are used only by this kernel's launches.
    [[nodiscard]] bool isOnlyForLaunches() const {
        std::vector<bool> changes(body_.variables.size());
        const auto dependsOnEdit = [&](ExprId value) {
            return std::ranges::any_of(host_.expressionsBelow(value), [&](ExprId id) {
                return numbers_.contains(id) ||
                       (expr(id).kind == ExprKind::Variable && expr(id).variable != noId &&
                        changes[expr(id).variable]);
            });
        };
        for (bool isNew = true; isNew;) {
            isNew = false;
            for (VariableId id = 0; id < body_.variables.size(); ++id) {
                if (changes[id] || body_.variable(id).storage != Storage::Local)
                    continue;
                const ExprId fixed = values_.fixedValue(id);
                const ExprId value = fixed == noId ? body_.variable(id).init : fixed;
                if (value != noId && dependsOnEdit(value))
                    isNew = changes[id] = true;
            }
        }
        const std::vector<Span> allowed = placesOfChange(changes);
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            if (changes[id] && !isNamedOnlyIn(allowed, body_.variable(id).name))
                return false;
        return true;
    }

    /// The places where changed variables may be named: their definitions, and the grids and blocks
    /// of this kernel's launches.
    [[nodiscard]] std::vector<Span> placesOfChange(const std::vector<bool>& changes) const {
        std::vector<Span> places;
        for (VariableId id = 0; id < body_.variables.size(); ++id) {
            if (!changes[id])
                continue;
            places.push_back(body_.variable(id).span);
            const ExprId fixed = values_.fixedValue(id);
            const ExprId parent = fixed == noId ? noId : host_.parent(fixed);
            if (parent != noId && expr(parent).op == "=")
                places.push_back(expr(parent).span);
        }
        for (const LaunchSite& launch : context_.kernel.launches)
            if (launch.host == launch_.host)
                for (const ExprId id : {launch.grid, launch.block})
                    places.push_back(expr(id).span);
        return places;
    }

    /// Whether the host function names the variable only in these places. Asks the text, since the
    /// model leaves out launches of kernels that are only declared.
    [[nodiscard]] bool isNamedOnlyIn(const std::vector<Span>& places,
                                     const std::string& name) const {
        const Span function = context_.file.hostFunctions[launch_.host].span;
        return std::ranges::all_of(context_.shared().tokens(), [&](const Token& token) {
            return token.text != name || !function.contains(token.span) ||
                   std::ranges::any_of(places,
                                       [&](Span place) { return place.contains(token.span); });
        });
    }

    const SkillContext& context_;
    const SourceText& source_;
    const LaunchSite& launch_;
    FunctionBody body_;
    CodeMap host_; ///< The map of body_.
    SampledValues values_;
    std::map<ExprId, ChangedNumber> numbers_;
    std::map<Span, std::string> edits_;
};

} // namespace

std::optional<std::vector<TextEdit>> editsOfDefinitions(const SkillContext& context,
                                                        const GridAxes& axes, const Extents& from,
                                                        const Extents& to) {
    std::map<Span, std::string> all;
    for (const LaunchSite& launch : context.kernel.launches) {
        FollowingLaunch following(context, launch);
        if (!following.change(axes, from, to))
            return std::nullopt;
        for (const auto& [span, text] : following.edits())
            if (!all.try_emplace(span, text).second && all[span] != text)
                return std::nullopt;
    }
    std::vector<TextEdit> edits;
    for (const auto& [span, text] : all)
        edits.push_back({span, text});
    return edits;
}

} // namespace kernelskill::skills
