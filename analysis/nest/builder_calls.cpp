#include "analysis/model/dependence.h"
#include "analysis/model/known_functions.h"
#include "analysis/nest/builder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kernelskill::analysis {

namespace {

constexpr int maxInlining = 8;

/// Whether a call may write through an argument of this type.
bool leadsToMemory(const Type& type) {
    return type.pointerDepth > 0 || !type.arrayExtents.empty();
}

/// Whether the function returns before its last statement.
bool hasEarlyReturn(const FunctionBody& body) {
    const std::vector<StmtId>& statements = body.stmt(body.root).children;
    const StmtId last = statements.empty() ? noId : statements.back();
    for (StmtId id = 0; id < body.stmts.size(); ++id)
        if (body.stmts[id].kind == StmtKind::Return && id != last)
            return true;
    return false;
}

} // namespace

void NestBuilder::visitCall(ExprId id) {
    if (visitKnownCall(id))
        return;
    std::string reason;
    const std::uint32_t callee = calleeOf(expr(id), reason);
    if (callee == noId) {
        visitUnknownCall(id, reason);
        return;
    }
    const bool isRecursive = std::ranges::any_of(nest_.frames, [&](const NestFrame& frame) {
        return frame.function == callee && &frames_[frame_] != &frames_.front() &&
               depth_ >= maxInlining;
    });
    if (depth_ >= maxInlining || isRecursive) {
        visitUnknownCall(id, "calls nested too deeply");
        return;
    }
    inlineCall(id, callee);
}

bool NestBuilder::visitKnownCall(ExprId id) {
    const Expr& expression = expr(id);
    const auto visitFrom = [&](std::size_t first) {
        for (std::size_t i = first; i < expression.children.size(); ++i)
            visit(expression.children[i],
                  expression.children[i] != noId && expr(expression.children[i]).isOutput
                      ? Use::ReadWrite
                      : Use::Read);
    };
    const std::string_view objectType =
        expression.isMethod && !expression.children.empty()
            ? std::string_view(expr(expression.children.front()).type.canonical)
            : std::string_view{};
    const std::string_view name = unqualified(expression.name);
    std::optional<BarrierKind> kind = barrier(expression.name, expression.isMethod, objectType);
    if (!kind && !expression.isMethod && name == "sync" && !expression.children.empty())
        kind = BarrierKind::GroupSync;
    if (kind) {
        visitFrom(expression.isMethod ? 1 : 0);
        NestNode node;
        node.content = NestBarrier{*kind, id};
        node.span = expression.span;
        if (!pending_.empty())
            node.statement = pending_.back().statement;
        append(std::move(node));
        return true;
    }
    if (expression.isMethod) {
        const bool isGroup = objectType.find("group") != std::string_view::npos ||
                             objectType.find("thread_block") != std::string_view::npos;
        if (!isGroup)
            return false;
        visitFrom(1);
        if (name == "shfl" || name.starts_with("shfl_"))
            std::get<NestStatement>(pending_.back().content).exchange = name;
        return true;
    }
    const auto pointerAccess = [&](AccessKind accessKind) {
        const ExprId target = expression.children.front();
        visitPointerParts(target);
        NestPlace where;
        where.address = pointer(target);
        Type type = expr(target).type;
        type.size = type.elementSize;
        type.pointerDepth = 0;
        type.arrayExtents.clear();
        if (where.address.array != noId) {
            const NestArray& array = nest_.arrays[where.address.array];
            if (array.isVariable && array.variable != noId)
                where.variable = NestVariableKey{array.frame, array.variable, ""};
        }
        if (type.size == 0)
            type.size = where.address.unit;
        access(where, accessKind, target, type);
        visitFrom(1);
    };
    const bool isOwn = std::ranges::any_of(file_.deviceFunctions, [&](const KernelModel& function) {
        return function.name == name && function.body.root != noId;
    });
    if (isAtomic(expression.name) && !isOwn && !expression.children.empty()) {
        pointerAccess(AccessKind::Atomic);
        return true;
    }
    if (const auto cached = cachedAccess(expression.name); cached && !expression.children.empty()) {
        pointerAccess(*cached);
        return true;
    }
    if (warpOperation(expression.name)) {
        visitFrom(0);
        if (!pending_.empty())
            std::get<NestStatement>(pending_.back().content).exchange = name;
        return true;
    }
    if (mathFunction(expression.name) != MathKind::None || leavesPointersAlone(expression.name)) {
        for (const ExprId argument : expression.children) {
            const Expr& value = expr(argument);
            // sincosf(x, &s, &c)
            const bool isOutput = leadsToMemory(value.type) && !value.type.pointeeConst &&
                                  mathFunction(expression.name) != MathKind::None;
            if (isOutput && value.kind == ExprKind::Unary && value.op == "&")
                visit(value.children.front(), Use::Write);
            else
                visit(argument);
        }
        return true;
    }
    if (name == "this_thread_block" || name == "this_grid" || name == "coalesced_threads" ||
        name.starts_with("tiled_partition")) {
        visitFrom(0);
        return true;
    }
    return false;
}

/// The device function that the call means; noId and why, where the text does not tell.
std::uint32_t NestBuilder::calleeOf(const Expr& call, std::string& reason) const {
    std::vector<std::uint32_t> found;
    const std::size_t arguments = call.children.size() - (call.isMethod ? 1 : 0);
    const auto& functions = file_.deviceFunctions;
    const std::string_view name = unqualified(call.name);
    for (std::uint32_t i = 0; i < functions.size(); ++i)
        if (functions[i].name == name && functions[i].parameters.size() == arguments &&
            functions[i].body.root != noId)
            found.push_back(i);
    if (found.size() > 1) {
        std::vector<std::uint32_t> exact;
        const std::size_t first = call.isMethod ? 1 : 0;
        for (const std::uint32_t candidate : found) {
            bool fits = true;
            for (std::size_t i = 0; i < arguments; ++i) {
                const Type& given = expr(call.children[first + i]).type;
                const Type& wanted = functions[candidate].parameters[i].type;
                fits = fits && (wanted.isDependent ||
                                (given.scalar == wanted.scalar && given.lanes == wanted.lanes &&
                                 (given.pointerDepth > 0 || !given.arrayExtents.empty()) ==
                                     (wanted.pointerDepth > 0)));
            }
            if (fits)
                exact.push_back(candidate);
        }
        found = std::move(exact);
    }
    // Specialisations for several types that differ in nothing else.
    const bool isSameCode = std::ranges::all_of(found, [&](std::uint32_t candidate) {
        const FunctionBody& first = functions[found.front()].body;
        const FunctionBody& other = functions[candidate].body;
        return first.exprs.size() == other.exprs.size() &&
               first.stmts.size() == other.stmts.size() &&
               first.variables.size() == other.variables.size();
    });
    if (found.size() == 1 || (!found.empty() && isSameCode))
        return found.front();
    reason = found.empty() ? "calls '" + std::string(name) + "', whose code is not known"
                           : "calls '" + std::string(name) + "', which has several meanings";
    return noId;
}

/// Whether a call of the function may do more than return a value.
bool NestBuilder::touchesMemory(const KernelModel& function, int depth) const {
    const bool writesParameter =
        std::ranges::any_of(function.parameters, [](const Parameter& parameter) {
            return (parameter.type.isReference && !parameter.type.isConst) ||
                   parameter.type.pointerDepth > 0 || parameter.escapes;
        });
    if (writesParameter || !function.accesses.empty() || !function.barriers.empty() ||
        !function.atomics.empty() || !function.warpOperations.empty() || depth > maxInlining)
        return true;
    const bool hasOther = std::ranges::any_of(function.body.stmts, [](const Stmt& stmt) {
        return stmt.kind == StmtKind::Asm || stmt.kind == StmtKind::Goto;
    });
    if (hasOther)
        return true;
    return std::ranges::any_of(function.calls, [&](const std::string& name) {
        const auto callee =
            std::ranges::find(file_.deviceFunctions, name, &KernelModel::qualifiedName);
        return callee == file_.deviceFunctions.end() || touchesMemory(*callee, depth + 1);
    });
}

void NestBuilder::inlineCall(ExprId id, std::uint32_t functionIndex) {
    const Expr call = expr(id);
    const KernelModel& function = file_.deviceFunctions[functionIndex];
    const bool isPure = !touchesMemory(function);
    const std::size_t first = call.isMethod ? 1 : 0;
    if (isPure && !isFollowed(call.type) && !call.type.isDependent) { // A value, nothing else.
        for (std::size_t i = 0; i < call.children.size(); ++i)
            visit(call.children[i]);
        return;
    }
    // Arguments are evaluated in the caller.
    struct Argument {
        NestFollowed value;
        std::optional<NestPlace> place;
    };
    std::vector<Argument> arguments;
    std::vector<NestVariableKey> copied; // Read from the caller's object, written to a copy.
    std::optional<NestPlace> self;
    if (call.isMethod && !call.children.empty()) {
        const Expr& object = expr(call.children.front());
        visitPointerParts(call.children.front());
        if (call.isArrow) {
            self = NestPlace{};
            self->address = pointer(call.children.front());
        } else if (object.name == "this") {
            const auto own = frames_[frame_].aliases.find(noId);
            if (own != frames_[frame_].aliases.end())
                self = own->second;
        } else {
            self = place(call.children.front());
        }
    }
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
        const ExprId argument = call.children[first + i];
        const Type& type = function.parameters[i].type;
        Argument made;
        if (type.isReference) {
            visitPointerParts(argument);
            NestPlace where = place(argument);
            if (where.variable || where.address.array != noId)
                made.place = std::move(where);
            else
                visit(argument);
        } else {
            visit(argument);
        }
        if (!made.place)
            made.value = followed(argument, isFollowed(type) ? type : expr(argument).type);
        if (!made.place && !isFollowed(type) && !type.isReference) {
            const NestPlace where = place(argument); // A struct by value: its fields are known.
            if (where.variable) {
                made.place = where;
                copied.push_back(*where.variable);
            }
        }
        arguments.push_back(std::move(made));
    }
    // Template arguments: numbers, and the caller's own template parameters.
    std::map<std::string, std::string> constants;
    for (std::size_t i = 0; i < function.templateParameters.size(); ++i) {
        const TemplateParameter& parameter = function.templateParameters[i];
        std::string value = i < call.templateArguments.size()
                                ? call.templateArguments[i]
                                : parameter.defaultArgument.value_or("");
        const auto own = frames_[frame_].constants.find(value);
        constants[parameter.name] =
            own == frames_[frame_].constants.end() ? std::move(value) : std::to_string(own->second);
    }

    const std::uint32_t caller = frame_;
    const std::size_t nodes = nest_.nodes.size();
    const std::size_t accesses = nest_.accesses.size();
    const std::vector<NestNodeId> siblings =
        parent_ == noId ? nest_.roots : nest_.nodes[parent_].children;
    frames_.emplace_back().function = &function;
    nest_.frames.push_back({functionIndex, caller, id});
    frame_ = static_cast<std::uint32_t>(frames_.size() - 1);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const VariableId parameter = function.parameters[i].variable;
        if (arguments[i].place)
            frames_[frame_].aliases[parameter] = *arguments[i].place;
        else if (arguments[i].value != NestFollowed{})
            set({frame_, parameter, ""}, arguments[i].value);
    }
    if (self)
        frames_[frame_].aliases[noId] = *self;
    for (const auto& [name, value] : constants)
        bindConstant(name, value);
    ++depth_;
    std::vector<NestCondition> conditions = std::exchange(within_, {});
    const NestNodeId outer = parent_;
    NestCondition around;
    for (const NestCondition& condition : conditions)
        around = both(around, condition);
    if (!around.isAlways())
        parent_ = openGuard(around, false, function.body.root);
    const State before = state_;
    (void)walk(function.body.root);
    for (const NestVariableKey& object : copied) {
        const auto isOfObject = [&](const auto& entry) {
            return entry.first.frame == object.frame && entry.first.variable == object.variable;
        };
        std::erase_if(state_, isOfObject);
        std::ranges::copy_if(before, std::inserter(state_, state_.end()), isOfObject);
    }
    if (hasEarlyReturn(function.body)) // The state is that of the last return alone.
        forgetChanges(before);
    parent_ = outer;
    within_ = std::move(conditions);
    --depth_;
    std::optional<NestFollowed> result = frames_[frame_].result;
    if (isPure) { // Only what it returns matters.
        nest_.nodes.resize(nodes);
        nest_.accesses.resize(accesses);
        (parent_ == noId ? nest_.roots : nest_.nodes[parent_].children) = siblings;
    }
    std::erase_if(state_, [&](const auto& entry) { return entry.first.frame == frame_; });
    frame_ = caller;
    results_[{frame_, id}] = result.value_or(NestFollowed{});
}

/// Makes unknown what callers' variables hold, where that is not what they held `before`.
void NestBuilder::forgetChanges(const State& before) {
    std::vector<NestVariableKey> changed;
    for (const auto& [key, value] : state_) {
        const auto old = before.find(key);
        if (key.frame < frame_ && (old == before.end() || !(old->second == value)))
            changed.push_back(key);
    }
    for (const NestVariableKey& key : changed)
        forget(key);
}

/// The call may read and write memory if it is passed a pointer or a reference.
void NestBuilder::visitUnknownCall(ExprId id, const std::string& reason) {
    const Expr& expression = expr(id);
    bool mayTouch = false;
    const std::size_t first = expression.isMethod ? 1 : 0;
    for (std::size_t i = 0; i < expression.children.size(); ++i) {
        const ExprId argument = expression.children[i];
        const Expr& value = expr(argument);
        if (i < first) {
            visitPointerParts(argument);
            continue;
        }
        if (leadsToMemory(value.type)) {
            visitPointerParts(argument);
            mayTouch = true;
        } else {
            visit(argument, value.isOutput ? Use::ReadWrite : Use::Read);
            if (value.isOutput)
                if (const NestPlace where = place(argument); where.variable)
                    forget(*where.variable);
        }
        if (value.kind == ExprKind::Unary && value.op == "&")
            if (const NestPlace where = place(value.children.front()); where.variable)
                forget(*where.variable);
    }
    // A user's function may have effects beyond its arguments, a method on its object; the
    // functions of CUDA that take numbers alone have none.
    const bool isUsers = std::ranges::any_of(file_.deviceFunctions, [&](const KernelModel& known) {
        return known.name == unqualified(expression.name) && touchesMemory(known);
    });
    if (mayTouch || isUsers || expression.isMethod)
        opaque(reason);
}

} // namespace kernelskill::analysis
