#include "skills/warp-aggregated-atomics/kept_locals.h"

#include "analysis/queries/source_layout.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"
#include "skills/schedule/draft.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace kernelskill::skills {

using namespace analysis;

namespace {

class LocalKeeper {
public:
    LocalKeeper(const SkillContext& context, const std::vector<StmtId>& behind)
        : context_(context), code_(context.code()), body_(code_.body()),
          source_(*context.file.source), layout_(source_, context.kernel), behind_(behind) {}

    [[nodiscard]] Gated<std::vector<KeptLocal>> find(StmtId outermost, StmtId guard) const {
        std::vector<KeptLocal> kept;
        for (const StmtId id : code_.statementsIn(body_.root)) {
            const Stmt& stmt = body_.stmt(id);
            const bool isWithin = id != outermost && code_.encloses(outermost, id);
            const bool isGuarded = guard != noId && stmt.parent == body_.root &&
                                   stmt.span.begin > body_.stmt(guard).span.end;
            if (stmt.kind != StmtKind::Declaration || (!isWithin && !isGuarded) ||
                isBehind(stmt.span) ||
                std::ranges::none_of(stmt.declared,
                                     [&](VariableId variable) { return isUsedBehind(variable); }))
                continue;
            KERNELSKILL_TRY(auto local, keep(id));
            kept.push_back(std::move(local));
        }
        return kept;
    }

private:
    [[nodiscard]] bool isBehind(Span span) const {
        return std::ranges::any_of(behind_,
                                   [&](StmtId id) { return body_.stmt(id).span.contains(span); });
    }
    [[nodiscard]] bool isUsedBehind(VariableId variable) const {
        return std::ranges::any_of(code_.uses(variable),
                                   [&](ExprId use) { return isBehind(body_.expr(use).span); });
    }

    [[nodiscard]] Gated<KeptLocal> keep(StmtId id) const {
        const Stmt& stmt = body_.stmt(id);
        const auto stuck = [&](std::string_view why) {
            return refuse("declaration", fmt::format("the declaration on line {} {}",
                                                     lineNumber(context_, stmt.span.begin), why));
        };
        if (stmt.fromMacro || !hasOwnLines(body_, layout_, id, id))
            return stuck("does not stand on lines of its own");
        KeptLocal kept{id, {}, ""};
        for (const VariableId variable : stmt.declared) {
            const Variable& declared = body_.variable(variable);
            const Type& type = declared.type;
            const bool isNumber = type.scalar != ScalarKind::Unknown && type.lanes == 1;
            if (type.isReference || !type.arrayExtents.empty() || declared.fromMacro ||
                declared.storage != Storage::Local ||
                !(isNumber || type.lanes > 1 || type.isPlainClass || type.pointerDepth > 0))
                return stuck("cannot be split from its value");
            if (isNamedTwice(variable))
                return stuck("has a name that another variable has");
            kept.hoisted.push_back(hoisted(declared));
            if (declared.init == noId)
                continue;
            const std::string_view text = source_.slice(declared.span);
            const auto equals = text.find('=');
            if (equals == std::string_view::npos ||
                body_.expr(declared.init).kind == ExprKind::InitList ||
                text.substr(0, equals).find_first_of("({") != std::string_view::npos)
                return stuck("cannot be split from its value");
            kept.assignment += fmt::format("{}{} {}", kept.assignment.empty() ? "" : "; ",
                                           declared.name, text.substr(equals));
        }
        if (!kept.assignment.empty())
            kept.assignment += ";";
        return kept;
    }

    [[nodiscard]] bool isNamedTwice(VariableId variable) const {
        for (VariableId other = 0; other < body_.variables.size(); ++other)
            if (other != variable && body_.variable(other).name == body_.variable(variable).name)
                return true;
        return false;
    }

    /// Returns "float v = 0.0f;" for `float v = in[i];`.
    [[nodiscard]] static std::string hoisted(const Variable& variable) {
        const Type& type = variable.type;
        std::string spelling = valueSpelling(type);
        if (spelling.contains("auto")) {
            Type plain = type;
            plain.spelling = type.canonical;
            spelling = valueSpelling(plain);
        }
        const std::string_view space = spelling.ends_with('*') ? "" : " ";
        if (type.pointerDepth > 0)
            return fmt::format("{}{}{} = nullptr;", spelling, space, variable.name);
        if (type.lanes > 1 || type.scalar == ScalarKind::Unknown)
            return fmt::format("{} {} = {{}};", spelling, variable.name);
        const std::string zero =
            type.scalar == ScalarKind::Bool ? "false" : literalOf(0, type.scalar);
        return fmt::format("{} {} = {};", spelling, variable.name, zero);
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    const SourceText& source_;
    SourceLayout layout_;
    const std::vector<StmtId>& behind_;
};

} // namespace

Gated<std::vector<KeptLocal>> keptLocals(const SkillContext& context,
                                         const std::vector<StmtId>& behind, StmtId outermost,
                                         StmtId guard) {
    return LocalKeeper(context, behind).find(outermost, guard);
}

} // namespace kernelskill::skills
