#include "skills/vectorized-math/packed_work.h"

#include "analysis/queries/code_map.h"
#include "analysis/queries/source_words.h"
#include "analysis/queries/value_spelling.h"
#include "analysis/source/try.h"
#include "skills/base/gates.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace kernelskill::skills {

using namespace analysis;

namespace {

/// Functions of one value and of a pair, which round each part alike.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> pairFunctions = {{
    {"__hadd", "__hadd2"},
    {"__hsub", "__hsub2"},
    {"__hmul", "__hmul2"},
    {"__hfma", "__hfma2"},
    {"__hneg", "__hneg2"},
    {"__habs", "__habs2"},
    {"__hmax", "__hmax2"},
    {"__hmin", "__hmin2"},
    {"__hadd_rn", "__hadd2_rn"},
    {"__hsub_rn", "__hsub2_rn"},
    {"__hmul_rn", "__hmul2_rn"},
    {"__hadd_sat", "__hadd2_sat"},
    {"__hsub_sat", "__hsub2_sat"},
    {"__hmul_sat", "__hmul2_sat"},
    {"__hfma_sat", "__hfma2_sat"},
    {"__hfma_relu", "__hfma2_relu"},
}};

class Packer {
public:
    Packer(const SkillContext& context, const CodeMap& code, ElementGroups groups)
        : context_(context), code_(code), body_(code.body()) {
        packed_.groups = std::move(groups);
    }

    Gated<PackedWork> pack() {
        scalar_ = body_.variable(packed_.groups.streams.front().base).type.scalar;
        for (const Stream& stream : packed_.groups.streams)
            if (const Type& type = body_.variable(stream.base).type;
                type.scalar != scalar_ ||
                (scalar_ != ScalarKind::Half && scalar_ != ScalarKind::BFloat16))
                return refuse("not-16-bit",
                              fmt::format("{} is a {}, of which no instruction takes two",
                                          stream.name, type.spelling));
        KERNELSKILL_CHECK(requireElementsOnly());
        for (const StmtId id : packed_.groups.work)
            KERNELSKILL_CHECK(packStatement(body_.stmt(id)));
        if (packed_.operations == 0)
            return refuse("nothing-computed",
                          fmt::format("{} only moves its elements", context_.kernel.name));
        return packed_;
    }

private:
    using Packed = Gated<void>;

    [[nodiscard]] std::uint32_t line(Span span) const { return lineNumber(context_, span.begin); }

    [[nodiscard]] std::unexpected<Refusal> notPacked(Span span, std::string_view what) const {
        return refuse("not-packed", fmt::format("line {} {}", line(span), what));
    }

    /// Nothing else is loaded or stored than what goes by pairs.
    Packed requireElementsOnly() const {
        for (const MemoryAccess& access : context_.kernel.accesses)
            if (std::ranges::none_of(packed_.groups.streams, [&](const Stream& stream) {
                    return stream.base == access.base;
                }))
                return refuse("scalar-access",
                              fmt::format("line {} accesses memory that does not go by pairs",
                                          line(body_.expr(access.expression).span)));
        return {};
    }

    Packed packStatement(const Stmt& stmt) {
        if (stmt.kind == StmtKind::Null)
            return {};
        if (stmt.kind == StmtKind::Declaration)
            return packDeclaration(stmt);
        if (stmt.kind != StmtKind::Expression || stmt.expr == noId)
            return notPacked(stmt.span, "is no declaration and no assignment");
        const Expr& assignment = body_.expr(stmt.expr);
        constexpr std::array<std::string_view, 4> operators = {"=", "+=", "-=", "*="};
        if (assignment.kind != ExprKind::Binary ||
            std::ranges::find(operators, assignment.op) == operators.end())
            return notPacked(stmt.span, "is no assignment of sums and products");
        packed_.operations += assignment.op == "=" ? 0 : 1;
        const ExprId target = assignment.children[0];
        if (streamAt(target) == nullptr && !isOwn(target))
            return notPacked(stmt.span, "changes something that is no element");
        KERNELSKILL_CHECK(packValue(target));
        return packValue(assignment.children[1]);
    }

    Packed packDeclaration(const Stmt& stmt) {
        for (const VariableId id : stmt.declared) {
            const Variable& variable = body_.variable(id);
            if (!isScalar(variable.type) || variable.type.isReference || variable.fromMacro)
                return notPacked(stmt.span, "declares something that is no value of 16 bits");
            if (variable.init == noId)
                continue;
            KERNELSKILL_CHECK(packValue(variable.init));
        }
        const Variable& first = body_.variable(stmt.declared.front());
        const Span type{stmt.span.begin, first.span.begin};
        const std::string_view written = context_.file.source->slice(type);
        if (!occurrences(written, "auto").empty())
            return {};
        const std::string spelling = valueSpelling(first.type);
        const std::vector<Span> found = occurrences(written, spelling);
        if (found.size() != 1)
            return notPacked(stmt.span, "declares by a type that is not written there");
        packed_.changes.push_back(
            {{type.begin + found[0].begin, type.begin + found[0].end}, pairOf(spelling)});
        return {};
    }

    /// The pair of a type as people write both; that of another name for it is the plain one.
    [[nodiscard]] std::string pairOf(const std::string& spelling) const {
        constexpr std::array<std::string_view, 6> names = {
            "half", "__half", "nv_half", "__nv_half", "nv_bfloat16", "__nv_bfloat16"};
        return std::ranges::find(names, spelling) != names.end() ? spelling + "2"
                                                                 : packed_.groups.streams[0].type;
    }

    Packed packValue(ExprId id) {
        const Expr& expr = body_.expr(id);
        if (const Stream* stream = streamAt(id)) {
            packed_.changes.push_back({expr.span, stream->vector});
            return {};
        }
        if (!isScalar(expr.type))
            return notPacked(expr.span, "computes in another type than that of the elements");
        if (std::ranges::any_of(code_.expressionsBelow(id),
                                [&](ExprId part) { return body_.expr(part).fromMacro; }))
            return notPacked(expr.span, "computes in a macro");
        if (isSameForAll(id)) {
            const std::string_view broadcast =
                scalar_ == ScalarKind::Half ? "__half2half2" : "__bfloat162bfloat162";
            packed_.changes.push_back(
                {expr.span,
                 fmt::format("{}({})", broadcast, context_.file.source->slice(expr.span))});
            return {};
        }
        switch (expr.kind) {
        case ExprKind::Variable:
            return isOwn(id) ? Packed{} : notPacked(expr.span, "uses what is no element");
        case ExprKind::Unary:
            if (expr.op != "-")
                return notPacked(expr.span, "does more than add, subtract and multiply");
            ++packed_.operations;
            return packValue(expr.children[0]);
        case ExprKind::Binary:
            if (expr.op != "+" && expr.op != "-" && expr.op != "*")
                return notPacked(expr.span, "does more than add, subtract and multiply");
            ++packed_.operations;
            KERNELSKILL_CHECK(packValue(expr.children[0]));
            return packValue(expr.children[1]);
        case ExprKind::Call:
            return packCall(expr);
        default:
            return notPacked(expr.span, "does more than add, subtract and multiply");
        }
    }

    Packed packCall(const Expr& call) {
        const auto found = std::ranges::find(pairFunctions, call.name,
                                             [](const auto& pair) { return pair.first; });
        if (found == pairFunctions.end() || call.isMethod)
            return notPacked(call.span, "calls a function that does not take pairs");
        ++packed_.operations;
        const auto length = static_cast<std::uint32_t>(call.name.size());
        const Span name{call.span.begin, call.span.begin + length};
        if (context_.file.source->slice(name) != call.name)
            return notPacked(call.span, "calls a function in a way that is not plain");
        packed_.changes.push_back({name, std::string(found->second)});
        for (const ExprId argument : call.children)
            KERNELSKILL_CHECK(packValue(argument));
        return {};
    }

    [[nodiscard]] const Stream* streamAt(ExprId id) const {
        const auto found =
            std::ranges::find(packed_.groups.accesses, id, &ElementAccess::expression);
        return found == packed_.groups.accesses.end() ? nullptr
                                                      : &packed_.groups.streams[found->stream];
    }

    /// A local of the work.
    [[nodiscard]] bool isOwn(ExprId id) const {
        const Expr& expr = body_.expr(id);
        if (expr.kind != ExprKind::Variable || expr.variable == noId)
            return false;
        const StmtId declaration = code_.declarationOf(expr.variable);
        return declaration != noId &&
               std::ranges::any_of(packed_.groups.work, [&](StmtId statement) {
                   return code_.encloses(statement, declaration);
               });
    }

    /// The same value for both elements: made of nothing that belongs to one.
    [[nodiscard]] bool isSameForAll(ExprId id) const {
        return std::ranges::none_of(code_.expressionsBelow(id), [&](ExprId part) {
            const Expr& expr = body_.expr(part);
            const bool isIndex =
                expr.kind == ExprKind::Variable && expr.variable == packed_.groups.index;
            const bool isEffect = (expr.kind == ExprKind::Binary && isAssignment(expr.op)) ||
                                  (expr.kind == ExprKind::Unary &&
                                   (expr.op.contains("++") || expr.op.contains("--")));
            return isIndex || isEffect || expr.kind == ExprKind::Other ||
                   streamAt(part) != nullptr || isOwn(part);
        });
    }

    [[nodiscard]] bool isScalar(const Type& type) const {
        return type.scalar == scalar_ && type.lanes == 1 && type.pointerDepth == 0 &&
               type.arrayExtents.empty() && !type.isVolatile;
    }

    const SkillContext& context_;
    const CodeMap& code_;
    const FunctionBody& body_;
    ScalarKind scalar_ = ScalarKind::Half;
    PackedWork packed_;
};

} // namespace

Gated<PackedWork> packWork(const SkillContext& context, const CodeMap& code) {
    KERNELSKILL_TRY(auto groups, planElementGroups(context, code));
    return Packer(context, code, std::move(groups)).pack();
}

} // namespace kernelskill::skills
