#include "engine/review/clock_use.h"

#include "analysis/syntax/lexer.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <vector>

namespace kernelskill::engine {
namespace {

using analysis::Expr;
using analysis::ExprId;
using analysis::ExprKind;
using analysis::noId;
using analysis::Span;
using analysis::Stmt;
using analysis::StmtKind;
using analysis::VariableId;

constexpr const char* clockCheck = "clocks";
constexpr std::array<std::string_view, 6> clockCalls = {
    "clock", "clock64", "__globaltimer", "__clock64", "__clock", "__nvvm_read_ptx_sreg_clock64"};

/// Follows the values of clocks through one function.
class ClockFlow {
public:
    ClockFlow(const analysis::KernelModel& function, std::string_view text)
        : body_(function.body), text_(text) {
        for (std::size_t known = 1; known != 0;) {
            known = timed_.size();
            for (const Stmt& stmt : body_.stmts)
                follow(stmt);
            known = timed_.size() == known ? 0 : timed_.size();
        }
    }

    [[nodiscard]] bool readsClock() const { return readsClock_; }

    /// The first part of the code in `edited` that computes with the time.
    [[nodiscard]] std::optional<Span> firstIn(std::span<const Span> edited) const {
        std::optional<Span> first;
        const auto consider = [&](Span span) {
            const bool isEdited =
                std::ranges::any_of(edited, [&](const Span& edit) { return edit.touches(span); });
            if (isEdited && (!first || span < *first))
                first = span;
        };
        for (const Stmt& stmt : body_.stmts) {
            if (stmt.kind == StmtKind::Asm && readsClockRegister(stmt))
                consider(stmt.span);
            for (const ExprId id : {stmt.expr, stmt.condition, stmt.increment})
                if (id != noId && mentionsTime(id))
                    consider(body_.expr(id).span);
            for (const VariableId id : stmt.declared)
                if (const ExprId init = body_.variable(id).init; init != noId && mentionsTime(init))
                    consider(stmt.span);
        }
        return first;
    }

private:
    void follow(const Stmt& stmt) {
        if (stmt.kind == StmtKind::Asm) {
            if (!readsClockRegister(stmt))
                return;
            readsClock_ = true;
            // Any variable that the assembly names may be its output.
            std::set<std::string_view> names;
            for (const analysis::Token& token : analysis::lex(textOf(stmt.span)))
                names.insert(token.text);
            for (VariableId id = 0; id < body_.variables.size(); ++id)
                if (names.contains(body_.variable(id).name))
                    timed_.insert(id);
            return;
        }
        if (stmt.expr != noId)
            follow(stmt.expr);
        if (stmt.increment != noId)
            follow(stmt.increment);
        for (const VariableId id : stmt.declared) {
            const ExprId init = body_.variable(id).init;
            if (init != noId && isTimed(init))
                timed_.insert(id);
        }
    }

    void follow(ExprId id) {
        const Expr& expr = body_.expr(id);
        const bool assigns = expr.kind == ExprKind::Binary && expr.op.ends_with('=') &&
                             expr.op != "==" && expr.op != "<=" && expr.op != ">=" &&
                             expr.op != "!=" && expr.children.size() == 2;
        if (assigns && isTimed(expr.children[1])) {
            const Expr& target = body_.expr(expr.children[0]);
            if (target.kind == ExprKind::Variable && target.variable != noId)
                timed_.insert(target.variable);
        }
        for (const ExprId child : expr.children)
            follow(child);
        if (isClock(expr))
            readsClock_ = true;
    }

    [[nodiscard]] static bool isClock(const Expr& expr) {
        return expr.kind == ExprKind::Call &&
               std::ranges::find(clockCalls, expr.name) != clockCalls.end();
    }

    [[nodiscard]] bool isTimed(ExprId id) {
        const bool timed = mentionsTime(id);
        readsClock_ |= timed;
        return timed;
    }

    [[nodiscard]] bool mentionsTime(ExprId id) const {
        const Expr& expr = body_.expr(id);
        return isClock(expr) ||
               (expr.kind == ExprKind::Variable && expr.variable != noId &&
                timed_.contains(expr.variable)) ||
               std::ranges::any_of(expr.children,
                                   [&](ExprId child) { return mentionsTime(child); });
    }

    [[nodiscard]] bool readsClockRegister(const Stmt& stmt) const {
        const std::string_view text = textOf(stmt.span);
        return text.contains("%clock") || text.contains("%globaltimer");
    }

    [[nodiscard]] std::string_view textOf(Span span) const {
        return text_.substr(span.begin, span.end - span.begin);
    }

    const analysis::FunctionBody& body_;
    std::string_view text_;
    std::set<VariableId> timed_; ///< Variables whose values follow from a clock.
    bool readsClock_ = false;
};

} // namespace

std::optional<CheckResult> checkClocks(KernelRef subject, std::span<const Span> edited) {
    bool readsClock = false;
    std::vector<const analysis::KernelModel*> functions{&subject.kernel};
    for (const analysis::KernelModel& function : subject.file().deviceFunctions) {
        if (std::ranges::find(subject.kernel.calls, function.qualifiedName) !=
            subject.kernel.calls.end())
            functions.push_back(&function);
    }
    const std::string_view text = subject.program.text;
    for (const analysis::KernelModel* function : functions) {
        if (function->file != subject.program.file || function->span.end > text.size())
            continue;
        const ClockFlow flow(*function, text);
        readsClock |= flow.readsClock();
        const auto place = flow.firstIn(edited);
        if (place)
            return invalid(clockCheck,
                           fmt::format("the edit changes line {}, which computes with the value "
                                       "of a clock: that differs from run to run, so no "
                                       "comparison of results judges it",
                                       1 + std::ranges::count(text.substr(0, place->begin), '\n')),
                           {.stage = ReviewStage::Reach});
    }
    if (!readsClock)
        return std::nullopt;
    return held(clockCheck, "the kernel reads a clock: what follows from it was compared only with "
                            "the clock of the emulator, which counts accesses");
}

} // namespace kernelskill::engine
