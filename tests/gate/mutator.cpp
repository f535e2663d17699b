#include "tests/gate/mutator.h"

#include "analysis/queries/shared_analysis.h"
#include "analysis/queries/value_range.h"
#include "engine/comparison/output_comparison.h"
#include "engine/inputs/launch_inference.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace kernelskill::testing {
namespace {

using namespace analysis;
using enum MutationOperator;

bool isInteger(const Type& type) {
    return type.pointerDepth == 0 && type.lanes == 1 && type.arrayExtents.empty() &&
           type.scalar >= ScalarKind::Char && type.scalar <= ScalarKind::UInt64;
}

bool isFloat(const Type& type) {
    return type.pointerDepth == 0 && type.lanes == 1 && type.arrayExtents.empty() &&
           (type.scalar == ScalarKind::Float || type.scalar == ScalarKind::Double);
}

class Mutator {
public:
    Mutator(const FileModel& file, const KernelModel& kernel, std::string_view text)
        : file_(file), kernel_(kernel), body_(kernel.body), text_(text), shared_(file, kernel) {}

    std::vector<Mutant> all() {
        for (ExprId id = 0; id < body_.exprs.size(); ++id)
            mutate(id);
        for (const Stmt& stmt : body_.stmts)
            mutate(stmt);
        for (VariableId id = 0; id < body_.variables.size(); ++id)
            mutateType(id);
        mutateLaunches();
        std::ranges::stable_sort(mutants_, {}, &Mutant::line);
        return std::move(mutants_);
    }

private:
    [[nodiscard]] std::string of(Span span) const {
        return std::string(text_.substr(span.begin, span.end - span.begin));
    }
    [[nodiscard]] bool isInKernel(Span span) const {
        return span.begin >= kernel_.span.begin && span.end <= kernel_.span.end &&
               span.begin < span.end && span.end <= text_.size();
    }

    void replace(MutationOperator mutation, Span span, std::string newText) {
        const std::string before = of(span);
        if (before == newText || !made_.insert({span.begin, span.end, newText}).second)
            return;
        const auto line = static_cast<std::uint32_t>(
            1 + std::count(text_.begin(), text_.begin() + span.begin, '\n'));
        mutants_.push_back({mutation, line, {span, std::move(newText)}, before});
    }

    void mutate(ExprId id);
    void mutateBinary(const Expr& expr);
    void mutateInteger(const Expr& expr);
    void mutateCall(const Expr& expr);
    void mutateIndex(const Expr& expr);
    void mutateStoredValue(const Expr& assignment);
    void mutateScalar(const Expr& expr);
    void mutate(const Stmt& stmt);
    void mutateBound(ExprId condition);
    void mutateStore(const Stmt& stmt);
    void mutateType(VariableId id);
    void mutateLaunches();
    [[nodiscard]] bool isOnShared(const Expr& call) const;
    void mutateInstance(const Expr& value);
    void mutateOrder(const Stmt& compound);
    [[nodiscard]] bool fitsShort(VariableId id) const;
    [[nodiscard]] bool isLoad(ExprId id) const {
        return std::ranges::any_of(kernel_.accesses, [&](const MemoryAccess& access) {
            return access.expression == id && access.kind == AccessKind::Read;
        });
    }

    const FileModel& file_;
    const KernelModel& kernel_;
    const FunctionBody& body_;
    std::string_view text_;
    SharedAnalysis shared_;
    std::set<std::tuple<std::uint32_t, std::uint32_t, std::string>> made_;
    std::vector<Mutant> mutants_;
};

void Mutator::mutate(ExprId id) {
    const Expr& expr = body_.expr(id);
    if (expr.fromMacro || !isInKernel(expr.span))
        return;
    switch (expr.kind) {
    case ExprKind::Binary:
        mutateBinary(expr);
        break;
    case ExprKind::Integer:
        mutateInteger(expr);
        break;
    case ExprKind::Call:
        mutateCall(expr);
        break;
    case ExprKind::BuiltinIndex:
        if (expr.name == "threadIdx" && expr.axis == 0)
            replace(Index, expr.span, "(threadIdx.x + 1)");
        break;
    case ExprKind::Subscript:
        mutateIndex(expr);
        if (isLoad(id) && isFloat(expr.type)) {
            const std::string load = of(expr.span);
            replace(Special, expr.span, fmt::format("({0} > 1 ? 1 : {0})", load));
            replace(Special, expr.span, fmt::format("({0} == 0.5f ? 0 : {0})", load));
            replace(Special, expr.span, fmt::format("({0} != {0} ? 0 : {0})", load));
            replace(Precision, expr.span, fmt::format("({} * 1.004f)", load));
        } else if (isLoad(id) && isInteger(expr.type)) {
            const std::string load = of(expr.span);
            if (expr.type.scalar < ScalarKind::UInt8 || expr.type.scalar > ScalarKind::UInt64)
                replace(Special, expr.span, fmt::format("({0} < 0 ? 0 : {0})", load));
            if (expr.type.scalar != ScalarKind::UInt8 && expr.type.scalar != ScalarKind::Char)
                replace(Special, expr.span, fmt::format("({0} > 255 ? 255 : {0})", load));
        }
        break;
    case ExprKind::Variable:
        mutateScalar(expr);
        break;
    default:
        break;
    }
}

void Mutator::mutateBinary(const Expr& expr) {
    static const std::map<std::string, std::pair<MutationOperator, std::vector<std::string>>>
        others{{"<", {Comparison, {"<=", ">"}}}, {"<=", {Comparison, {"<"}}},
               {">", {Comparison, {">=", "<"}}}, {">=", {Comparison, {">"}}},
               {"==", {Comparison, {"!="}}},     {"!=", {Comparison, {"=="}}},
               {"+", {Operator, {"-"}}},         {"-", {Operator, {"+"}}},
               {"*", {Operator, {"+"}}},         {"/", {Operator, {"*"}}},
               {"%", {Operator, {"/"}}},         {"&", {Operator, {"|"}}},
               {"|", {Operator, {"&"}}},         {"<<", {Operator, {">>"}}},
               {">>", {Operator, {"<<"}}},       {"&&", {Operator, {"||"}}},
               {"||", {Operator, {"&&"}}},       {"+=", {Operator, {"-=", "="}}},
               {"-=", {Operator, {"+="}}},       {"*=", {Operator, {"="}}},
               {">>=", {Operator, {">>= 1 +"}}}};
    if (expr.children.size() != 2)
        return;
    const Span left = body_.expr(expr.children[0]).span;
    const Span right = body_.expr(expr.children[1]).span;
    if (left.end > right.begin || !isInKernel(left) || !isInKernel(right))
        return;
    const auto found = others.find(expr.op);
    const std::string between = of({left.end, right.begin});
    const auto at = between.find(expr.op);
    if (found != others.end() && at != std::string::npos) {
        const auto begin = left.end + static_cast<std::uint32_t>(at);
        for (const std::string& other : found->second.second)
            replace(found->second.first,
                    {begin, begin + static_cast<std::uint32_t>(expr.op.size())}, other);
    }
    if (expr.op == "=")
        mutateStoredValue(expr);
}

void Mutator::mutateStoredValue(const Expr& assignment) {
    const Expr& target = body_.expr(assignment.children[0]);
    const Expr& value = body_.expr(assignment.children[1]);
    if (!isFloat(target.type) || value.fromMacro || !isInKernel(value.span))
        return;
    const std::string text = of(value.span);
    if (target.kind == ExprKind::Subscript)
        mutateInstance(value);
    replace(Precision, value.span, fmt::format("({}) * 1.001f", text));
    replace(Precision, value.span,
            fmt::format("((({0}) < 1e-3f && ({0}) > -1e-3f) ? 0 : ({0}))", text));
}

void Mutator::mutateInstance(const Expr& value) {
    for (std::size_t i = 0; i < kernel_.templateParameters.size(); ++i) {
        const TemplateParameter& parameter = kernel_.templateParameters[i];
        std::set<std::string> arguments;
        std::string last;
        for (const LaunchSite& site : kernel_.launches) {
            if (i >= site.templateArguments.size())
                continue;
            last = site.templateArguments[i];
            arguments.insert(last);
        }
        if (arguments.size() < 2)
            continue;
        const std::string isLast = parameter.isType
                                       ? fmt::format("__is_same({}, {})", parameter.name, last)
                                       : fmt::format("{} == {}", parameter.name, last);
        replace(Instance, value.span, fmt::format("({} ? 0 : ({}))", isLast, of(value.span)));
    }
}

/// Reads a value before a store to another object and uses it after.
void Mutator::mutateOrder(const Stmt& compound) {
    const auto loadIn = [&](Span span) -> const Expr* {
        for (ExprId id = 0; id < body_.exprs.size(); ++id) {
            const Expr& expr = body_.expr(id);
            if (expr.kind == ExprKind::Subscript && isLoad(id) && !expr.fromMacro &&
                span.contains(expr.span))
                return &expr;
        }
        return nullptr;
    };
    // Other memory cannot be the same.
    const auto isFreePointer = [&](const Expr& subscript) {
        const Expr& base = body_.expr(subscript.children.at(0));
        return base.kind == ExprKind::Variable && base.variable != noId &&
               body_.variable(base.variable).storage == Storage::Parameter &&
               !body_.variable(base.variable).type.isRestrict;
    };
    const auto baseOf = [&](const Expr& subscript) {
        return of(body_.expr(subscript.children.at(0)).span);
    };
    for (std::size_t i = 0; i + 1 < compound.children.size(); ++i) {
        const Stmt& store = body_.stmt(compound.children[i]);
        const Stmt& use = body_.stmt(compound.children[i + 1]);
        if (store.kind != StmtKind::Expression || store.expr == noId || store.fromMacro ||
            use.fromMacro || !isInKernel(store.span) || !isInKernel(use.span))
            continue;
        const Expr& assignment = body_.expr(store.expr);
        if (assignment.kind != ExprKind::Binary || !assignment.op.ends_with("=") ||
            body_.expr(assignment.children.at(0)).kind != ExprKind::Subscript)
            continue;
        const Expr* const load = loadIn(use.span);
        if (load == nullptr || !isFreePointer(*load) ||
            !isFreePointer(body_.expr(assignment.children.at(0))) ||
            baseOf(*load) == baseOf(body_.expr(assignment.children.at(0))))
            continue;
        const Span both{store.span.begin, use.span.end};
        replace(Alias, both,
                fmt::format("const auto early = {}; {}early{}", of(load->span),
                            of({both.begin, load->span.begin}), of({load->span.end, both.end})));
    }
}

void Mutator::mutateInteger(const Expr& expr) {
    const std::string text = of(expr.span);
    if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) == 0)
        return;
    if (text.starts_with("0xffffffff") || text.starts_with("0xFFFFFFFF")) {
        replace(Mask, expr.span, "0x0000ffffu");
        return;
    }
    replace(Constant, expr.span, fmt::format("{}", expr.integer + 1));
    if (expr.integer > 0)
        replace(Constant, expr.span, fmt::format("{}", expr.integer - 1));
}

void Mutator::mutateCall(const Expr& expr) {
    static const std::map<std::string, std::vector<std::pair<MutationOperator, std::string>>>
        others{{"atomicAdd", {{Scope, "atomicAdd_block"}, {Atomic, "atomicSub"}}},
               {"atomicMax", {{Scope, "atomicMax_block"}, {Atomic, "atomicMin"}}},
               {"atomicMin", {{Scope, "atomicMin_block"}, {Atomic, "atomicMax"}}},
               {"__syncthreads", {{Barrier, "__syncwarp"}}},
               {"__threadfence", {{Scope, "__threadfence_block"}}},
               {"fmaxf", {{Operator, "fminf"}}},
               {"fminf", {{Operator, "fmaxf"}}},
               {"max", {{Operator, "min"}}},
               {"min", {{Operator, "max"}}}};
    const std::string text = of(expr.span);
    if (expr.name == "clock64" || expr.name == "clock" || expr.name == "__globaltimer")
        replace(Clock, expr.span, fmt::format("({} / 2)", text));
    if (const auto found = others.find(expr.name);
        found != others.end() && text.starts_with(expr.name)) {
        const Span name{expr.span.begin,
                        expr.span.begin + static_cast<std::uint32_t>(expr.name.size())};
        for (const auto& [mutation, other] : found->second) {
            if (mutation != Scope || !isOnShared(expr))
                replace(mutation, name, other);
        }
    }
    if (expr.name == "atomicAdd" && expr.children.size() == 2) {
        const Span place = body_.expr(expr.children[0]).span;
        const Span value = body_.expr(expr.children[1]).span;
        if (isInKernel(place) && isInKernel(value))
            replace(Atomic, expr.span, fmt::format("(*({}) += ({}))", of(place), of(value)));
    }
    if (isFloat(expr.type) && expr.children.size() == 1 && !expr.isMethod) {
        const Span argument = body_.expr(expr.children[0]).span;
        if (isInKernel(argument))
            replace(Special, argument, fmt::format("(({0}) > 4 ? 4 : ({0}))", of(argument)));
    }
}

/// Whether the call is an atomic of shared memory, which no other block sees.
bool Mutator::isOnShared(const Expr& call) const {
    return std::ranges::any_of(kernel_.atomics, [&](const analysis::Atomic& atomic) {
        return &body_.expr(atomic.call) == &call && atomic.access < kernel_.accesses.size() &&
               kernel_.accesses[atomic.access].space == MemorySpace::Shared;
    });
}

void Mutator::mutateIndex(const Expr& expr) {
    if (expr.children.size() != 2)
        return;
    const Expr& index = body_.expr(expr.children[1]);
    if (index.fromMacro || !isInKernel(index.span))
        return;
    const std::string text = of(index.span);
    replace(Index, index.span, fmt::format("({}) ^ 1", text));
    const auto range = valueRangeOf(kernel_, shared_.code(), expr.children[1]);
    if (range && range->low >= 0 && range->high <= UINT16_MAX)
        return;
    replace(Position, index.span, fmt::format("(unsigned short)({})", text));
    replace(Position, index.span, fmt::format("({}) & 0xfffffff", text));
}

void Mutator::mutateScalar(const Expr& expr) {
    if (expr.variable == noId || body_.variable(expr.variable).storage != Storage::Parameter)
        return;
    const auto launches = engine::inferLaunches(file_, kernel_);
    if (!launches)
        return;
    for (const engine::ArgumentSpec& argument : launches->front().arguments) {
        const auto* scalar = std::get_if<engine::ScalarSpec>(&argument);
        if (scalar == nullptr || scalar->name != body_.variable(expr.variable).name)
            continue;
        if (scalar->floating)
            replace(Scalar, expr.span, fmt::format("({:.9g})", *scalar->floating));
        else if (scalar->integer)
            replace(Scalar, expr.span, fmt::format("({})", *scalar->integer));
    }
}

void Mutator::mutate(const Stmt& stmt) {
    if (stmt.fromMacro || !isInKernel(stmt.span))
        return;
    if (stmt.kind == StmtKind::Expression && stmt.expr != noId) {
        const bool isBarrier =
            std::ranges::any_of(kernel_.barriers, [&](const analysis::Barrier& barrier) {
                return barrier.call == stmt.expr;
            });
        if (isBarrier)
            replace(Barrier, stmt.span, ";");
        mutateStore(stmt);
    }
    if (stmt.kind == StmtKind::Compound)
        mutateOrder(stmt);
    if (stmt.kind == StmtKind::If && stmt.condition != noId) {
        const Expr& condition = body_.expr(stmt.condition);
        if (!condition.fromMacro && isInKernel(condition.span)) {
            replace(Guard, condition.span, "true");
            replace(Guard, condition.span, "false");
            mutateBound(stmt.condition);
        }
    }
    if ((stmt.kind == StmtKind::For || stmt.kind == StmtKind::While) && stmt.condition != noId)
        mutateBound(stmt.condition);
}

void Mutator::mutateBound(ExprId condition) {
    const Expr& comparison = body_.expr(condition);
    if (comparison.kind != ExprKind::Binary || comparison.children.size() != 2 ||
        comparison.fromMacro)
        return;
    const Expr& bound = body_.expr(comparison.children[1]);
    if (!isInteger(bound.type) || !isInKernel(bound.span))
        return;
    const std::string text = of(bound.span);
    replace(Tail, bound.span, fmt::format("(({}) & ~3)", text));
    replace(Tail, bound.span, fmt::format("({0}) - (({0}) % 4 == 2)", text));
    replace(Tail, bound.span, fmt::format("(({0}) > 5 ? ({0}) : 0)", text));
    replace(Tail, bound.span, fmt::format("(({0}) < 1000 ? ({0}) : ({0}) - 1)", text));
}

void Mutator::mutateStore(const Stmt& stmt) {
    const Expr& expr = body_.expr(stmt.expr);
    const bool assigns = expr.kind == ExprKind::Binary && expr.op.ends_with("=") &&
                         expr.op != "==" && !expr.children.empty() &&
                         body_.expr(expr.children[0]).kind == ExprKind::Subscript;
    if (!assigns)
        return;
    replace(Position, stmt.span, fmt::format("if (blockIdx.x < 300) {}", of(stmt.span)));
    replace(Position, stmt.span, fmt::format("if (threadIdx.x != 33) {}", of(stmt.span)));
}

/// Whether each use of the variable has a value that 16 bits hold.
bool Mutator::fitsShort(VariableId id) const {
    bool isUsed = false;
    for (ExprId expr = 0; expr < body_.exprs.size(); ++expr) {
        if (body_.expr(expr).kind != ExprKind::Variable || body_.expr(expr).variable != id)
            continue;
        isUsed = true;
        const auto range = valueRangeOf(kernel_, shared_.code(), expr);
        if (!range || range->low < INT16_MIN || range->high > INT16_MAX)
            return false;
    }
    return isUsed;
}

void Mutator::mutateType(VariableId id) {
    const Variable& variable = body_.variable(id);
    static const std::vector<std::pair<std::string, std::string>> narrower{
        {"size_t", "int"},
        {"long long", "int"},
        {"double", "float"},
        {"unsigned int", "unsigned short"},
        {"unsigned", "unsigned short"},
        {"int", "short"}};
    if (variable.storage != Storage::Local || variable.fromMacro ||
        !isInKernel(variable.declarationSpan))
        return;
    if (isInteger(variable.type) && fitsShort(id))
        return;
    const std::string declaration = of(variable.declarationSpan);
    for (const auto& [wide, narrow] : narrower) {
        auto at = declaration.starts_with("const ") ? std::size_t{6} : std::size_t{0};
        if (!declaration.substr(at).starts_with(wide + " "))
            continue;
        const auto begin = variable.declarationSpan.begin + static_cast<std::uint32_t>(at);
        replace(TypeWidth, {begin, begin + static_cast<std::uint32_t>(wide.size())}, narrow);
        return;
    }
}

void Mutator::mutateLaunches() {
    // Loops over the grid do the same work with any number of threads.
    const bool followsGrid = std::ranges::any_of(body_.exprs, [](const Expr& expr) {
        return expr.kind == ExprKind::BuiltinIndex && expr.name == "gridDim";
    });
    if (followsGrid)
        return;
    for (const LaunchSite& site : kernel_.launches) {
        if (site.fromMacro || site.host >= file_.hostFunctions.size() ||
            file_.hostFunctions[site.host].file != file_.file)
            continue;
        const FunctionBody& host = file_.hostFunctions[site.host].body;
        if (site.grid != noId && !host.expr(site.grid).fromMacro &&
            isInteger(host.expr(site.grid).type)) {
            const Span grid = host.expr(site.grid).span;
            if (of(grid) != "1")
                replace(Launch, grid, fmt::format("({} + 1) / 2", of(grid)));
        }
        if (site.block != noId && !host.expr(site.block).fromMacro &&
            isInteger(host.expr(site.block).type)) {
            const Span block = host.expr(site.block).span;
            replace(Launch, block, fmt::format("({}) / 2", of(block)));
        }
    }
}

} // namespace

std::vector<Mutant> mutantsOf(const FileModel& file, const KernelModel& kernel,
                              std::string_view text) {
    return Mutator(file, kernel, text).all();
}

} // namespace kernelskill::testing
