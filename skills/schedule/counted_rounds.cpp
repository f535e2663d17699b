#include "skills/schedule/counted_rounds.h"

#include "analysis/queries/index_arithmetic.h"
#include "analysis/queries/loop_effects.h"
#include "analysis/queries/source_layout.h"
#include "analysis/queries/source_words.h"
#include "skills/editing/fresh_names.h"
#include "skills/editing/operand_text.h"
#include "skills/schedule/draft.h"
#include "skills/schedule/moved_variables.h"
#include "skills/schedule/signed_sum.h"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// How the rounds of the loop are counted afterwards.
enum class Counting : std::uint8_t {
    Kept,    ///< By the index that the for loop declares.
    Hoisted, ///< By the index of a while loop, which becomes a for loop's.
    Counted, ///< By a new index that counts from 0.
};

/// The value of a moved variable: `base` plus, or minus, `step` times the rounds before.
struct MovedValue {
    SignedSum base;
    std::string offset; ///< "i", "i * n"; empty: the value is `base`.
    bool isDown = false;
};

std::string_view countTypeOf(const Type& type) {
    switch (type.scalar) {
    case ScalarKind::UInt32:
        return "unsigned";
    case ScalarKind::Int64:
        return "long long";
    case ScalarKind::UInt64:
        return "size_t";
    default:
        return "int";
    }
}

/// Whether a subscript or a cast applies to all of the expression without parentheses.
bool isPostfix(const Expr& expr) {
    return expr.kind == ExprKind::Variable || expr.kind == ExprKind::BuiltinIndex ||
           expr.kind == ExprKind::Member || expr.kind == ExprKind::Subscript ||
           expr.kind == ExprKind::Call;
}

/// Writes one loop of a kernel.
class CountedLoopWriter {
public:
    CountedLoopWriter(const SkillContext& context, const Loop& loop, FreshNames& names)
        : code_(context.code()), body_(code_.body()), source_(*context.file.source),
          layout_(source_, context.kernel), loop_(loop), stmt_(body_.stmt(loop.statement)),
          names_(names) {}

    /// Returns nothing if the loop has its form already, or is not understood.
    std::vector<TextEdit> edits() {
        const bool isFor = loop_.kind == LoopKind::For;
        if ((!isFor && loop_.kind != LoopKind::While) || stmt_.fromMacro || stmt_.parent == noId ||
            body_.stmt(stmt_.parent).kind != StmtKind::Compound ||
            !isWrittenAs(source_, stmt_.span, {isFor ? "for" : "while"}))
            return {};
        moved_ = movedVariables(code_, loop_);
        const auto control = controlOf(code_, loop_, moved_);
        if (!control)
            return {};
        control_ = *control;
        if (!chooseCounting() || !writeHead() || !writeUses())
            return {};
        for (const MovedVariable& moved : moved_)
            removeChange(moved);
        removeUnused();
        return std::move(edits_);
    }

private:
    [[nodiscard]] const MovedVariable& index() const { return moved_[control_.moved]; }
    [[nodiscard]] bool isIndex(const MovedVariable& moved) const { return &moved == &index(); }
    [[nodiscard]] std::string textOf(ExprId expr) const {
        return std::string(source_.slice(body_.expr(expr).span));
    }
    [[nodiscard]] ExprId valueOf(VariableId variable) const {
        return valueAtLoop(code_, loop_, variable, [&](VariableId other) {
            const auto moved = std::ranges::find(moved_, other, &MovedVariable::variable);
            return moved != moved_.end() && (counting_ == Counting::Counted || !isIndex(*moved));
        });
    }
    [[nodiscard]] bool isDeclaredInHead(VariableId variable) const {
        return stmt_.init != noId && code_.declarationOf(variable) == stmt_.init;
    }
    /// The expression as a sum, in which pointers that never move are what they are set to.
    [[nodiscard]] SignedSum expanded(ExprId expr) const {
        return sumOf(code_, expr, [&](VariableId variable) {
            const bool isPointer = body_.variable(variable).type.pointerDepth > 0;
            const bool moves =
                std::ranges::find(moved_, variable, &MovedVariable::variable) != moved_.end();
            return isPointer && !moves ? valueOf(variable) : noId;
        });
    }

    bool chooseCounting() {
        const MovedVariable& by = index();
        const Variable& variable = body_.variable(by.variable);
        const bool isUpwardIndex =
            isIndexType(variable.type) && !by.isDown && control_.comparison == "<";
        if (loop_.kind == LoopKind::For && isUpwardIndex && isDeclaredInHead(by.variable) &&
            body_.stmt(stmt_.init).declared.size() == 1) {
            counting_ = Counting::Kept;
            return moved_.size() > 1;
        }
        if (loop_.kind == LoopKind::While && isUpwardIndex && isHoistable(by)) {
            counting_ = Counting::Hoisted;
            return true;
        }
        counting_ = Counting::Counted;
        return by.step == noId;
    }

    /// Whether the declaration of a while loop's index may move into the loop's head.
    [[nodiscard]] bool isHoistable(const MovedVariable& by) const {
        const StmtId declaration = code_.declarationOf(by.variable);
        if (declaration == noId || body_.stmt(declaration).declared.size() != 1 ||
            body_.stmt(declaration).parent != stmt_.parent || valueOf(by.variable) == noId ||
            !isStatement(by.change))
            return false;
        const std::uint32_t end = body_.expr(by.change).span.end;
        return std::ranges::all_of(code_.uses(by.variable), [&](ExprId use) {
            return code_.holds(loop_.statement, use) && body_.expr(use).span.begin < end;
        });
    }

    [[nodiscard]] bool isStatement(ExprId change) const {
        const StmtId holder = code_.statement(change);
        return holder != loop_.statement && body_.stmt(holder).expr == change;
    }

    bool writeHead() {
        const MovedVariable& by = index();
        const Variable& variable = body_.variable(by.variable);
        if (counting_ == Counting::Kept) {
            name_ = variable.name;
            start_ = expanded(variable.init);
            writeIncrement();
            return true;
        }
        const std::uint32_t bodyBegin = body_.stmt(loop_.body).span.begin;
        const std::size_t bracket = source_.text().rfind(')', bodyBegin);
        if (bracket == std::string::npos || bracket < stmt_.span.begin || !areAllChanges())
            return false;
        std::string head;
        if (counting_ == Counting::Hoisted) {
            name_ = variable.name;
            start_ = expanded(variable.init);
            const StmtId declaration = code_.declarationOf(by.variable);
            std::string declared = std::string(source_.slice(variable.declarationSpan));
            if (!declared.ends_with(';'))
                return false;
            head = fmt::format("for ({} {}; {})", declared, textOf(stmt_.condition),
                               textOf(by.change));
            edits_.push_back({layout_.statementWithLine(body_.stmt(declaration).span), ""});
        } else {
            const auto count = countText();
            if (!count)
                return false;
            const bool isOwnName = isIndexType(variable.type) && isDeclaredInHead(by.variable);
            name_ = isOwnName ? variable.name : newName();
            head = fmt::format("for ({0} {1} = 0; {1} < {2}; ++{1})", count->second, name_,
                               count->first);
            declareBefore();
        }
        edits_.push_back(
            {{stmt_.span.begin, static_cast<std::uint32_t>(bracket + 1)}, std::move(head)});
        return true;
    }

    /// Whether a pointer that the head declares can be declared in front of the loop: its name
    /// means nothing else there.
    [[nodiscard]] bool isDeclaredBefore(VariableId variable) const {
        return counting_ == Counting::Counted && isDeclaredInHead(variable) &&
               body_.variable(variable).type.pointerDepth > 0 &&
               std::ranges::count(body_.variables, body_.variable(variable).name,
                                  &Variable::name) == 1;
    }

    void declareBefore() {
        std::string lines;
        for (const MovedVariable& moved : moved_) {
            if (!isDeclaredBefore(moved.variable))
                continue;
            const Variable& variable = body_.variable(moved.variable);
            const bool isAlone = body_.stmt(stmt_.init).declared.size() == 1;
            const std::string declared = isAlone
                                             ? std::string(source_.slice(variable.declarationSpan))
                                             : fmt::format("{} {} = {};", variable.type.spelling,
                                                           variable.name, textOf(variable.init));
            lines += layout_.indentation(stmt_.span.begin) + declared + layout_.newline();
        }
        const std::uint32_t at = layout_.lineBegin(beginWithPragma(stmt_));
        if (!lines.empty())
            edits_.push_back({{at, at}, lines});
    }

    /// A new index, by the first of the usual names that the kernel does not have.
    [[nodiscard]] std::string newName() const {
        constexpr std::array<std::string_view, 3> usual = {"j", "k", "i"};
        const auto* const free = std::ranges::find_if(
            usual, [&](std::string_view name) { return isNameFree(body_, name); });
        return names_.add(std::string(free != usual.end() ? *free : usual.front()));
    }

    /// The parts of `++i, p += n`.
    [[nodiscard]] std::vector<ExprId> increments() const {
        std::vector<ExprId> parts;
        std::vector<ExprId> left;
        if (stmt_.increment != noId)
            left.push_back(stmt_.increment);
        while (!left.empty()) {
            const ExprId part = left.back();
            left.pop_back();
            const Expr& expr = body_.expr(part);
            if (expr.kind == ExprKind::Binary && expr.op == ",") {
                left.push_back(expr.children[1]);
                left.push_back(expr.children[0]);
            } else {
                parts.push_back(part);
            }
        }
        return parts;
    }

    [[nodiscard]] bool isChange(ExprId expr) const {
        return std::ranges::find(moved_, expr, &MovedVariable::change) != moved_.end();
    }

    /// Whether a for loop's head does nothing but what the new head does.
    [[nodiscard]] bool areAllChanges() const {
        if (stmt_.init != noId && body_.stmt(stmt_.init).kind == StmtKind::Declaration &&
            !std::ranges::all_of(body_.stmt(stmt_.init).declared, [&](VariableId variable) {
                return std::ranges::find(moved_, variable, &MovedVariable::variable) !=
                       moved_.end();
            }))
            return false;
        if (stmt_.init != noId && body_.stmt(stmt_.init).kind != StmtKind::Declaration &&
            body_.stmt(stmt_.init).kind != StmtKind::Null)
            return false;
        return std::ranges::all_of(increments(), [&](ExprId part) { return isChange(part); });
    }

    void writeIncrement() {
        std::vector<std::string> kept;
        const std::vector<ExprId> parts = increments();
        for (const ExprId part : parts)
            if (part == index().change || !isChange(part))
                kept.push_back(textOf(part));
        if (kept.size() < parts.size())
            edits_.push_back(
                {body_.expr(stmt_.increment).span, fmt::format("{}", fmt::join(kept, ", "))});
    }

    /// The number of rounds and its type.
    [[nodiscard]] std::optional<std::pair<std::string, std::string>> countText() const {
        const MovedVariable& by = index();
        const Variable& variable = body_.variable(by.variable);
        const bool reaches = control_.comparison.ends_with("=") && control_.comparison != "!=";
        std::vector<SignedSum> entries; // The variable itself, or what it is set to.
        if (!isDeclaredInHead(by.variable))
            entries.push_back(entry(by.variable));
        if (const ExprId value = valueOf(by.variable); value != noId)
            entries.push_back(expanded(value));
        for (const SignedSum& first : entries) {
            const SignedSum bound = expanded(control_.bound);
            SignedSum count =
                by.isDown ? difference(code_, first, bound) : difference(code_, bound, first);
            count.constant += reaches ? 1 : 0;
            if (!isNumber(code_, count) && &first != &entries.back())
                continue;
            const bool subtracts =
                count.constant < 0 || std::ranges::any_of(count.terms, &SignedTerm::isNegative);
            if (isUnsignedIndexType(variable.type) && (subtracts || by.isDown))
                return std::nullopt; // It might wrap around where no round runs.
            return std::pair(sumText(code_, source_, count), countType(count));
        }
        return std::nullopt;
    }

    [[nodiscard]] std::string countType(const SignedSum& count) const {
        std::string_view type = countTypeOf(body_.variable(index().variable).type);
        if (body_.variable(index().variable).type.pointerDepth == 0)
            return std::string(type);
        if (!isNumber(code_, count))
            return "long long"; // A difference of pointers.
        type = "int";
        for (const SignedTerm& term : count.terms) {
            const std::string_view other = countTypeOf(body_.expr(term.expr).type);
            if (type == "int" || (type == "unsigned" && other != "int"))
                type = other;
        }
        return std::string(type);
    }

    /// The variable's own name as a sum: it keeps the value that it has at the loop.
    [[nodiscard]] SignedSum entry(VariableId variable) const {
        return {{{code_.uses(variable).front(), false}}, 0};
    }

    /// The variable's value in a round, before or behind its change there.
    [[nodiscard]] std::optional<MovedValue> valueIn(const MovedVariable& moved,
                                                    bool isBehind) const {
        MovedValue value;
        value.isDown = moved.isDown;
        const ExprId known = valueOf(moved.variable);
        const bool isGone = isDeclaredInHead(moved.variable) && !isDeclaredBefore(moved.variable);
        if (isGone && known == noId)
            return std::nullopt;
        value.base = isGone ? expanded(known) : entry(moved.variable);
        const bool startsAtZero = start_.terms.empty() && start_.constant == 0;
        const ExprId pace = counting_ == Counting::Counted ? noId : index().step;
        const bool isSamePace = moved.step == pace || (moved.step != noId && pace != noId &&
                                                       code_.sameExpression(moved.step, pace));
        if (pace != noId && (!isSamePace || moved.isDown || isBehind))
            return std::nullopt;
        if (startsAtZero) {
            value.offset =
                pace != noId ? name_ : times(isBehind ? "(" + name_ + " + 1)" : name_, moved);
            if (isBehind && moved.step == noId)
                value.offset = name_ + " + 1";
            return value;
        }
        if (isBehind)
            return std::nullopt;
        if (isSamePace && !moved.isDown && known != noId) {
            // `p = x + first` moves beside `i = first`: it is x + i.
            const SignedSum all = expanded(known);
            SignedSum rest = difference(code_, all, start_);
            if (rest.terms.size() + start_.terms.size() == all.terms.size()) {
                value.base = std::move(rest);
                value.offset = name_;
                return value;
            }
        }
        const std::string first = sumText(code_, source_, start_);
        const bool isOne = start_.terms.size() + (start_.constant != 0 ? 1 : 0) == 1;
        const std::string rounds =
            fmt::format("({} - {})", name_, isOne ? first : "(" + first + ")");
        value.offset = isSamePace ? rounds : times(rounds, moved);
        return value;
    }

    /// The rounds times the variable's step, counted as widely as the variable itself.
    [[nodiscard]] std::string times(const std::string& rounds, const MovedVariable& moved) const {
        if (moved.step == noId)
            return rounds;
        const Expr& step = body_.expr(moved.step);
        const bool widens = hasPointerWidth(body_.variable(moved.variable).type) &&
                            !hasPointerWidth(step.type) && step.kind != ExprKind::Integer;
        return fmt::format("{}{} * {}", widens ? "(long long)" : "", rounds,
                           besideProduct(source_, step));
    }

    bool writeUses() {
        for (const MovedVariable& moved : moved_) {
            if (isIndex(moved) && counting_ != Counting::Counted)
                continue;
            const Expr& change = body_.expr(moved.change);
            const bool isPlain = isStatement(moved.change) || isIncrement(moved.change);
            for (const ExprId use : code_.uses(moved.variable)) {
                const bool isChanged = code_.parent(use) == moved.change;
                if (!code_.holds(loop_.statement, use) || (isChanged && isPlain) || isInHead(use))
                    continue;
                if (isChanged && change.kind != ExprKind::Unary)
                    return false;
                const bool isBehind = isChanged
                                          ? !change.op.starts_with("p")
                                          : !isIncrement(moved.change) &&
                                                body_.expr(use).span.begin > change.span.begin;
                const auto value = valueIn(moved, isBehind);
                if (!value || !writeUse(isChanged ? moved.change : use, *value))
                    return false;
                if (std::ranges::any_of(value->base.terms, [&](const SignedTerm& term) {
                        return code_.namedVariable(term.expr) == moved.variable;
                    }))
                    named_.insert(moved.variable);
            }
        }
        return true;
    }

    [[nodiscard]] bool isIncrement(ExprId change) const {
        return std::ranges::count(increments(), change) != 0;
    }

    /// Whether the use stands in the head's declaration, or in the condition, which is replaced.
    [[nodiscard]] bool isInHead(ExprId use) const {
        if (stmt_.init != noId && code_.holds(stmt_.init, use))
            return true;
        return counting_ == Counting::Counted && code_.statement(use) == loop_.statement;
    }

    /// Writes `value` in the place of `at`, a use of the variable or its change.
    bool writeUse(ExprId at, MovedValue value) {
        const Expr& expr = body_.expr(at);
        const ExprId above = code_.parent(at);
        const Expr* const holder = above != noId ? &body_.expr(above) : nullptr;
        if (expr.fromMacro || (holder != nullptr && holder->fromMacro))
            return false;
        if (expr.type.pointerDepth == 0) {
            const bool isAlone = holder == nullptr ||
                                 (holder->kind == ExprKind::Subscript && holder->children[1] == at);
            const std::string text = joined(sumText(code_, source_, value.base), value);
            edits_.push_back({expr.span, isAlone ? text : "(" + text + ")"});
            return true;
        }
        const ExprId pointer = takePointer(code_, value.base);
        if (pointer == noId)
            return false;
        const bool hasRest = !value.base.terms.empty() || value.base.constant != 0;
        const std::string place = joined(hasRest ? wideText(value.base) : std::string(), value);
        const Expr& base = body_.expr(pointer);
        const std::string name = isPostfix(base) ? textOf(pointer) : "(" + textOf(pointer) + ")";
        if (holder != nullptr && holder->kind == ExprKind::Unary && holder->op == "*") {
            edits_.push_back({{holder->span.begin, expr.span.begin}, ""});
            edits_.push_back({expr.span, fmt::format("{}[{}]", name, place)});
            return isBlankButStar({holder->span.begin, expr.span.begin});
        }
        if (holder != nullptr && holder->kind == ExprKind::Subscript && holder->children[0] == at) {
            const Expr& further = body_.expr(holder->children[1]);
            if (further.fromMacro)
                return false;
            edits_.push_back({expr.span, name});
            if (further.kind == ExprKind::Integer && further.integer == 0) {
                edits_.push_back({further.span, place});
                return true;
            }
            const bool isLoose = besideComparison(source_, further).starts_with("(") &&
                                 textOf(holder->children[1]).front() != '(';
            edits_.push_back(
                {{further.span.begin, further.span.begin}, place + " + " + (isLoose ? "(" : "")});
            if (isLoose)
                edits_.push_back({{further.span.end, further.span.end}, ")"});
            return true;
        }
        const bool isAlone = holder == nullptr || holder->kind == ExprKind::Call;
        const std::string moved = name + " + " + place;
        edits_.push_back({expr.span, isAlone ? moved : "(" + moved + ")"});
        return true;
    }

    /// The sum in 64 bits: what a pointer adds up one after the other does not wrap around.
    [[nodiscard]] std::string wideText(const SignedSum& sum) const {
        std::string text = sumText(code_, source_, sum);
        if (std::ranges::any_of(sum.terms, [&](const SignedTerm& term) {
                return hasPointerWidth(body_.expr(term.expr).type);
            }))
            return text;
        const bool isName = sum.terms.size() == 1 && sum.constant == 0 &&
                            !sum.terms[0].isNegative && isPostfix(body_.expr(sum.terms[0].expr));
        return sum.terms.empty() ? text : "(long long)" + (isName ? text : "(" + text + ")");
    }

    [[nodiscard]] static std::string joined(const std::string& base, const MovedValue& value) {
        if (value.offset.empty())
            return base.empty() ? "0" : base;
        const bool isGrouped = value.isDown && value.offset.contains(" + ");
        const std::string offset = isGrouped ? "(" + value.offset + ")" : value.offset;
        if (base.empty() || base == "0")
            return value.isDown ? "-" + offset : offset;
        return base + (value.isDown ? " - " : " + ") + offset;
    }

    /// Whether nothing but the star of `*p` stands in the span, so that it may go.
    [[nodiscard]] bool isBlankButStar(Span span) const {
        const std::string_view text = source_.slice(span);
        return std::ranges::count(text, '*') == 1 &&
               text.find_first_not_of("* \t") == std::string_view::npos;
    }

    void removeChange(const MovedVariable& moved) {
        if ((isIndex(moved) && counting_ == Counting::Kept) || !isStatement(moved.change))
            return;
        edits_.push_back(
            {layout_.statementWithLine(body_.stmt(code_.statement(moved.change)).span), ""});
    }

    /// Removes declarations of a bound and of pointers that nothing names any more.
    void removeUnused() {
        for (const MovedVariable& moved : moved_) {
            const Variable& variable = body_.variable(moved.variable);
            const StmtId declaration = code_.declarationOf(moved.variable);
            if (!isIndex(moved) && variable.type.pointerDepth > 0 && variable.init != noId &&
                hasNoEffect(code_, variable.init) && !named_.contains(moved.variable) &&
                !isDeclaredInHead(moved.variable) && body_.stmt(declaration).declared.size() == 1 &&
                hasOwnLines(body_, layout_, declaration, declaration) &&
                std::ranges::all_of(code_.uses(moved.variable),
                                    [&](ExprId use) { return code_.holds(loop_.statement, use); }))
                edits_.push_back({layout_.statementWithLine(body_.stmt(declaration).span), ""});
        }
        if (counting_ != Counting::Counted)
            return;
        const VariableId bound = code_.namedVariable(control_.bound);
        if (bound == noId || code_.uses(bound).size() != 1 || valueOf(bound) == noId)
            return;
        const Stmt& declaration = body_.stmt(code_.declarationOf(bound));
        if (declaration.declared.size() == 1 && body_.variable(bound).type.pointerDepth > 0)
            edits_.push_back({layout_.statementWithLine(declaration.span), ""});
    }

    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const Loop& loop_;
    const Stmt& stmt_;
    FreshNames& names_;
    std::vector<MovedVariable> moved_;
    MovedControl control_;
    Counting counting_ = Counting::Kept;
    std::string name_;           ///< Of the index that counts the rounds.
    SignedSum start_;            ///< Its first value.
    std::set<VariableId> named_; ///< Moved variables that the loop names afterwards.
    std::vector<TextEdit> edits_;
};

} // namespace

std::vector<TextEdit> countedRounds(const SkillContext& context) {
    std::vector<TextEdit> all;
    FreshNames names(context.kernel.body);
    for (const Loop& loop : context.kernel.loops) {
        std::vector<TextEdit> edits = CountedLoopWriter(context, loop, names).edits();
        const bool meets = std::ranges::any_of(edits, [&](const TextEdit& edit) {
            return std::ranges::any_of(
                all, [&](const TextEdit& other) { return edit.span.touches(other.span); });
        });
        if (!meets)
            all.insert(all.end(), std::make_move_iterator(edits.begin()),
                       std::make_move_iterator(edits.end()));
    }
    return all;
}

} // namespace kernelskill::skills
