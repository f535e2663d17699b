#include "engine/candidate_diagnosis/hang_diagnoser.h"

#include "analysis/queries/code_map.h"
#include "engine/execution/cut_off.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kernelskill::engine {

using namespace analysis;

namespace {

bool isLoop(StmtKind kind) {
    return kind == StmtKind::For || kind == StmtKind::While || kind == StmtKind::Do;
}

bool isAtomic(const Expr& call) {
    return call.kind == ExprKind::Call && call.name.starts_with("atomic");
}

std::string listed(const std::vector<std::uint32_t>& lines) {
    std::string text = lines.size() == 1 ? "line " : "lines ";
    for (std::size_t i = 0; i < lines.size(); ++i)
        text += fmt::format("{}{}", i == 0 ? "" : i + 1 == lines.size() ? " and " : ", ", lines[i]);
    return text;
}

/// Examines one function in which a run was cut off.
class HangDiagnosis {
public:
    HangDiagnosis(const FileModel& file, const KernelModel& function)
        : file_(file), function_(function), map_(function.body) {}

    /// Explains the first loop around `line`, from the inside out, that cannot end; else the
    /// innermost.
    std::string explain(std::uint32_t line) const {
        std::string innermost;
        for (const StmtId loop : loopsAround(line)) {
            const Finding found = look(loop);
            if (found.isSure)
                return found.text;
            if (innermost.empty())
                innermost = found.text;
        }
        return innermost;
    }

private:
    struct Finding {
        bool isSure = false;
        std::string text;
    };

    [[nodiscard]] const Stmt& stmt(StmtId id) const { return function_.body.stmt(id); }
    [[nodiscard]] const Expr& expr(ExprId id) const { return function_.body.expr(id); }
    [[nodiscard]] std::uint32_t lineOf(std::uint32_t offset) const {
        return file_.source->lineColumn(offset).line;
    }
    [[nodiscard]] std::string quoted(ExprId id) const {
        return "'" + std::string(file_.source->slice(expr(id).span)) + "'";
    }

    [[nodiscard]] std::vector<StmtId> loopsAround(std::uint32_t line) const {
        std::vector<StmtId> loops;
        for (const StmtId id : map_.statementsIn(function_.body.root)) {
            const Span span = stmt(id).span;
            if (isLoop(stmt(id).kind) && lineOf(span.begin) <= line && line <= lineOf(span.end))
                loops.push_back(id);
        }
        std::ranges::sort(loops, {}, [&](StmtId id) { return stmt(id).span.size(); });
        return loops;
    }

    /// The conditions that decide whether the loop continues: its own, and those of its exits.
    [[nodiscard]] std::vector<ExprId> exits(StmtId loop) const {
        std::vector<ExprId> conditions;
        if (const ExprId own = stmt(loop).condition; own != noId && !map_.constantValue(own))
            conditions.push_back(own);
        for (const StmtId inner : map_.statementsIn(loop)) {
            const StmtKind kind = stmt(inner).kind;
            if (kind != StmtKind::Break && kind != StmtKind::Return && kind != StmtKind::Goto)
                continue;
            bool isOwn = true;
            for (StmtId at = stmt(inner).parent; at != loop && at != noId; at = stmt(at).parent) {
                isOwn &= kind != StmtKind::Break ||
                         (!isLoop(stmt(at).kind) && stmt(at).kind != StmtKind::Switch);
                if (isOwn && stmt(at).condition != noId)
                    conditions.push_back(stmt(at).condition);
            }
        }
        return conditions;
    }

    /// Variables of the function that a condition reads directly, not through memory.
    [[nodiscard]] std::set<VariableId> variablesOf(ExprId condition) const {
        std::set<VariableId> variables;
        for (const ExprId id : map_.expressionsBelow(condition)) {
            if (expr(id).kind == ExprKind::Variable && expr(id).variable != noId)
                variables.insert(expr(id).variable);
        }
        return variables;
    }

    [[nodiscard]] bool isChangedIn(StmtId loop, VariableId variable) const {
        return std::ranges::any_of(
                   map_.uses(variable),
                   [&](ExprId use) { return map_.isWrite(use) && map_.holds(loop, use); }) ||
               isDeclaredIn(loop, variable);
    }
    [[nodiscard]] bool isDeclaredIn(StmtId loop, VariableId variable) const {
        const StmtId declaration = map_.declarationOf(variable);
        return declaration != noId && declaration != stmt(loop).init &&
               map_.encloses(loop, declaration);
    }

    /// The memory accesses below an expression.
    [[nodiscard]] std::vector<const MemoryAccess*> accessesIn(ExprId condition) const {
        const auto below = map_.expressionsBelow(condition);
        std::vector<const MemoryAccess*> found;
        for (const MemoryAccess& access : function_.accesses) {
            if (std::ranges::find(below, access.expression) != below.end())
                found.push_back(&access);
        }
        return found;
    }

    [[nodiscard]] Finding look(StmtId loop) const {
        const std::string name =
            fmt::format("the loop on line {} does not end", lineOf(stmt(loop).span.begin) + 1);
        const auto conditions = exits(loop);
        if (conditions.empty())
            return {true, name + ": nothing ends it"};
        std::string unchanged;
        for (const ExprId condition : conditions) {
            const bool calls =
                std::ranges::any_of(map_.expressionsBelow(condition), [&](ExprId id) {
                    return expr(id).kind == ExprKind::Call || expr(id).kind == ExprKind::Other;
                });
            const auto accesses = accessesIn(condition);
            if (!accesses.empty())
                return {true, name + ": " + waiting(loop, condition, *accesses.front())};
            const auto variables = variablesOf(condition);
            if (calls || std::ranges::any_of(variables, [&](VariableId variable) {
                    return isChangedIn(loop, variable);
                }))
                return {false, fmt::format("{}: {} never ends it", name, quoted(condition))};
            for (const VariableId variable : variables)
                unchanged += fmt::format("{}'{}'", unchanged.empty() ? "" : " or ",
                                         function_.body.variable(variable).name);
        }
        return {true, fmt::format("{}: nothing in it changes {}", name, unchanged)};
    }

    /// For a condition that reads memory: which value has to be written, and where that happens.
    [[nodiscard]] std::string waiting(StmtId loop, ExprId condition,
                                      const MemoryAccess& access) const {
        const std::string object = access.base == noId
                                       ? quoted(access.expression)
                                       : "'" + function_.body.variable(access.base).name + "'";
        const auto below = map_.expressionsBelow(condition);
        const bool isLock =
            std::ranges::any_of(below, [&](ExprId id) { return isAtomic(expr(id)); });
        // Lines of threads that are in the loop or never reach it.
        std::vector<std::uint32_t> meanwhile;
        std::vector<std::uint32_t> before;
        std::vector<std::uint32_t> behind;
        bool isInside = false;
        for (const MemoryAccess& other : function_.accesses) {
            const bool isOwn = std::ranges::find(below, other.expression) != below.end();
            if (isOwn || other.kind == AccessKind::Read || access.base == noId ||
                other.base != access.base)
                continue;
            const Span span = expr(other.expression).span;
            const bool isHere = map_.holds(loop, other.expression);
            isInside |= isHere;
            auto& lines = isHere || isOtherBranch(loop, other.expression) ? meanwhile
                          : span.begin > stmt(loop).span.end              ? behind
                                                                          : before;
            const std::uint32_t line = lineOf(span.begin) + 1;
            if (std::ranges::find(lines, line) == lines.end())
                lines.push_back(line);
        }
        const std::string text =
            isLock ? fmt::format("it waits for {}, which other threads hold", object)
                   : fmt::format("it waits for {} to change", object);
        const char* verb = isLock ? "releases it" : "writes it";
        if (!meanwhile.empty()) {
            return fmt::format("{}; {} on {}{}", text, isLock ? "it is released" : "it is written",
                               listed(meanwhile),
                               isInside && isLock ? ", which lanes of one warp may not reach while "
                                                    "they wait for each other in lock-step"
                                                  : "");
        }
        if (!behind.empty())
            return fmt::format("{}; what {} is on {}, after the loop, which no thread reaches",
                               text, verb, listed(behind));
        if (!before.empty() && !isLock)
            return fmt::format("{}; what {} is on {}, before the loop", text, verb, listed(before));
        return fmt::format("{}, and nothing else in the kernel {}", text, verb);
    }

    /// Whether `place` is in the branch of an `if` that a thread in the loop does not take.
    [[nodiscard]] bool isOtherBranch(StmtId loop, ExprId place) const {
        for (StmtId at = loop; stmt(at).parent != noId; at = stmt(at).parent) {
            const StmtId parent = stmt(at).parent;
            if (map_.holds(parent, place))
                return stmt(parent).kind == StmtKind::If;
        }
        return false;
    }

    const FileModel& file_;
    const KernelModel& function_;
    analysis::CodeMap map_;
};

/// The zero-based line in "file:line" if the file is the main one.
std::optional<std::uint32_t> lineIn(const FileModel& file, const std::string& where) {
    const auto colon = where.rfind(':');
    if (colon == std::string::npos || where.substr(0, colon) != file.file)
        return std::nullopt;
    const long line = std::strtol(where.c_str() + colon + 1, nullptr, 10);
    return line > 0 ? std::optional(static_cast<std::uint32_t>(line - 1)) : std::nullopt;
}

} // namespace

Error withHangDiagnosis(const FileModel& file, const KernelModel& kernel, Error error) {
    const auto line = isCutOff(error) && file.source ? lineIn(file, error.where) : std::nullopt;
    if (!line)
        return error;
    std::vector<const KernelModel*> functions{&kernel};
    for (const KernelModel& function : file.deviceFunctions)
        functions.push_back(&function);
    for (const KernelModel* function : functions) {
        const Span place = file.source->lineSpan(*line);
        if (function->file != file.file || function->body.root == noId ||
            function->span.end < place.begin || place.end < function->span.begin)
            continue;
        const std::string found = HangDiagnosis(file, *function).explain(*line);
        if (!found.empty())
            error.what = found + "; " + error.what;
        break;
    }
    return error;
}

} // namespace kernelskill::engine
