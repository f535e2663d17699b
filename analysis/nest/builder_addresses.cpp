#include "analysis/model/dependence.h"
#include "analysis/model/memory_space.h"
#include "analysis/nest/builder.h"

#include <algorithm>
#include <array>
#include <utility>

namespace kernelskill::analysis {

namespace {

/// "float" of "const float *__restrict__".
std::string elementName(const Type& type) {
    std::string name = type.spelling;
    name = name.substr(0, name.find_first_of("*["));
    for (const std::string_view word : {"const ", "volatile ", "__restrict__", "&"})
        for (auto at = name.find(word); at != std::string::npos; at = name.find(word))
            name.erase(at, word.size());
    while (name.ends_with(' '))
        name.pop_back();
    return name;
}

} // namespace

/// Bytes; those of a template parameter's argument where the launches agree on it.
std::uint32_t NestBuilder::sizeOf(const Type& type) const {
    if (type.size != 0 || frame_ != 0)
        return type.size;
    constexpr std::array<std::pair<std::string_view, std::uint32_t>, 12> sizes = {
        {{"float", 4},
         {"double", 8},
         {"int", 4},
         {"unsigned int", 4},
         {"unsigned", 4},
         {"__half", 2},
         {"half", 2},
         {"__nv_bfloat16", 2},
         {"char", 1},
         {"unsigned char", 1},
         {"float4", 16},
         {"float2", 8}}};
    const auto bound = nest_.instantiation.find(elementName(type));
    if (bound == nest_.instantiation.end())
        return 0;
    const auto known = std::ranges::find(sizes, std::string_view(bound->second),
                                         &std::pair<std::string_view, std::uint32_t>::first);
    return known == sizes.end() ? 0 : known->second;
}

std::uint32_t NestBuilder::elementSizeOf(const Type& type) const {
    if (type.elementSize != 0)
        return type.elementSize;
    Type element;
    element.spelling = type.spelling;
    return sizeOf(element);
}

NestArrayId NestBuilder::arrayOf(const NestVariableKey& key, const Type& type) {
    const KernelModel* function = frames_[key.frame].function;
    const Variable& variable = function->body.variable(key.variable);
    // One object, whichever function names it; a function's own __shared__ one at every call.
    const bool isNamed =
        variable.storage == Storage::DeviceGlobal || variable.storage == Storage::Constant ||
        variable.storage == Storage::HostGlobal || variable.storage == Storage::DynamicShared;
    for (const auto& [known, id] : arrays_) {
        const KernelModel* owner = frames_[known.frame].function;
        const Variable& other = owner->body.variable(known.variable);
        const bool isSame = isNamed ? other.name == variable.name
                                    : variable.storage == Storage::Shared && owner == function &&
                                          known.variable == key.variable;
        if (isSame && other.storage == variable.storage && known.path == key.path)
            return id;
    }
    const auto [entry, isNew] = arrays_.try_emplace(key, noId);
    if (!isNew)
        return entry->second;
    NestArray array;
    array.name = variable.name + key.path;
    const bool pointsAway = isNestPointer(type);
    array.space = pointsAway ? MemorySpace::Global : memorySpaceOf(variable);
    array.element = elementName(type);
    array.scalar = type.scalar;
    array.lanes = type.lanes;
    const bool isObject = !pointsAway && type.arrayExtents.empty();
    array.elementSize = isObject ? sizeOf(type) : elementSizeOf(type);
    array.extents = type.arrayExtents;
    array.isVariable = isObject && array.space == MemorySpace::Local;
    array.isRestrict = type.isRestrict;
    array.isReadOnly = pointsAway ? type.pointeeConst : array.space == MemorySpace::Constant;
    array.frame = key.frame;
    array.variable = key.variable;
    nest_.arrays.push_back(std::move(array));
    entry->second = static_cast<NestArrayId>(nest_.arrays.size() - 1);
    return entry->second;
}

/// The array behind a pointer that is read from memory; one for each way it is written.
NestAddress NestBuilder::loadedArray(ExprId id, const Type& type) {
    const std::string name = "*(" + text(id) + ")";
    const auto [entry, isNew] = loaded_.try_emplace(name, noId);
    if (isNew) {
        NestArray array;
        array.name = name;
        array.space = MemorySpace::Generic;
        array.element = elementName(type);
        array.scalar = type.scalar;
        array.lanes = type.lanes;
        array.elementSize = elementSizeOf(type);
        array.isReadOnly = type.pointeeConst;
        array.isLoaded = true;
        array.frame = frame_;
        nest_.arrays.push_back(std::move(array));
        entry->second = static_cast<NestArrayId>(nest_.arrays.size() - 1);
    }
    NestAddress address;
    address.array = entry->second;
    address.offset = IndexExpression{};
    address.unit = elementSizeOf(type);
    return address;
}

NestAddress NestBuilder::pointerOf(const NestVariableKey& key, const Type& type) {
    if (const NestFollowed* value = known(key)) {
        if (value->address)
            return *value->address;
        NestAddress lost;
        lost.reason = "a pointer that is not followed";
        return lost;
    }
    const Variable& variable = frames_[key.frame].function->body.variable(key.variable);
    NestAddress address;
    const bool isArray = !type.arrayExtents.empty();
    const bool isGiven = key.frame == 0 && variable.storage == Storage::Parameter;
    if (!isArray && !isGiven && variable.storage != Storage::DeviceGlobal &&
        variable.storage != Storage::Constant) {
        address.reason = variable.storage == Storage::Local || key.frame != 0
                             ? "a pointer without a value"
                             : "a pointer that is not followed";
        return address;
    }
    address.array = arrayOf(key, type);
    address.offset = IndexExpression{};
    address.unit = elementSizeOf(type);
    address.extents = type.arrayExtents;
    return address;
}

NestAddress NestBuilder::pointer(ExprId id) {
    if (id == noId)
        return {};
    const Expr& expression = expr(id);
    const auto lost = [](std::string reason) {
        NestAddress address;
        address.reason = std::move(reason);
        return address;
    };
    switch (expression.kind) {
    case ExprKind::Variable:
    case ExprKind::Member: {
        const NestPlace where = place(id);
        if (where.variable) {
            Type type = expression.type;
            const NestVariableKey& key = *where.variable;
            if (expression.kind == ExprKind::Variable && key.path.empty())
                type = frames_[key.frame].function->body.variable(key.variable).type;
            return pointerOf(key, type);
        }
        if (!where.address.extents.empty()) // An array decays.
            return where.address;
        if (isNestPointer(expression.type) && where.address.array != noId)
            return loadedArray(id, expression.type);
        return lost(where.address.reason.empty() ? "a pointer that is not followed"
                                                 : where.address.reason);
    }
    case ExprKind::Cast: {
        NestAddress address = pointer(expression.children.front());
        const std::uint32_t unit = elementSizeOf(expression.type);
        if (!isNestPointer(expression.type) || unit == 0)
            return address;
        if (!address.field.empty()) {
            if (elementSizeOf(expr(expression.children.front()).type) == unit)
                return address; // The same part by another name.
            address = outOfField(std::move(address));
        }
        return inUnits(std::move(address), unit);
    }
    case ExprKind::Unary: {
        const ExprId operand = expression.children.front();
        if (expression.op == "&") {
            NestPlace where = place(operand);
            if (where.variable) {
                const NestVariableKey& key = *where.variable;
                NestAddress address;
                address.array = arrayOf(key, expr(operand).type);
                address.offset = IndexExpression{};
                address.unit = sizeOf(expr(operand).type);
                return address;
            }
            where.address.extents.clear();
            where.address.written.clear();
            return where.address;
        }
        if (isIncrement(expression)) {
            const NestAddress address = pointer(operand);
            if (!expression.op.starts_with('p'))
                return address;
            const std::int64_t back = expression.op.ends_with("++") ? -1 : 1;
            return moved(address, IndexExpression::constant(back));
        }
        if (expression.op == "*" && isNestPointer(expression.type))
            return loadedArray(id, expression.type);
        return lost("an operator on a pointer");
    }
    case ExprKind::Binary: {
        if (isAssignment(expression))
            return pointer(expression.children[0]);
        if (expression.op == ",")
            return pointer(expression.children[1]);
        if (expression.op != "+" && expression.op != "-")
            return lost("an operator on a pointer");
        const Type& left = expr(expression.children[0]).type;
        const bool leftIsPointer = isNestPointer(left) || !left.arrayExtents.empty();
        NestAddress address = pointer(expression.children[leftIsPointer ? 0 : 1]);
        const auto by = integer(expression.children[leftIsPointer ? 1 : 0]);
        if (!by)
            return lost("a pointer moved by what is not followed");
        return moved(std::move(address),
                     expression.op == "-" ? IndexExpression::constant(-1) * *by : *by);
    }
    case ExprKind::Conditional: {
        return chosen(condition(expression.children[0]), pointer(expression.children[1]),
                      pointer(expression.children[2]));
    }
    case ExprKind::Subscript:
        if (!expression.type.arrayExtents.empty())
            return place(id).address;
        return loadedArray(id, expression.type);
    case ExprKind::InitList:
        return expression.children.size() == 1 ? pointer(expression.children.front())
                                               : lost("a pointer that is not followed");
    case ExprKind::Call:
        if (const auto known = results_.find({frame_, id});
            known != results_.end() && known->second.address)
            return *known->second.address;
        return lost("a pointer that a call returns");
    default:
        return lost("a pointer that is not followed");
    }
}

/// The element of `address` at a subscript; `type` is the element's.
NestAddress NestBuilder::subscripted(NestAddress address, ExprId subscript, const Type& type) {
    if (!address.choices.empty())
        return eachOf(std::move(address), [&](NestAddress one) {
            return subscripted(std::move(one), subscript, type);
        });
    const auto index = integer(subscript);
    std::int64_t stride = 1;
    const bool isDimension = !address.extents.empty();
    std::optional<std::int64_t> extent;
    if (isDimension) {
        if (address.extents.front() > 0)
            extent = address.extents.front();
        address.extents.erase(address.extents.begin());
        for (const std::int64_t inner : address.extents)
            stride *= inner;
    }
    if (!index || stride < 1) {
        address.offset.reset();
        address.reason = "a subscript that is not followed";
        return address;
    }
    if (!isDimension && !index->terms().empty())
        address = outOfField(std::move(address));
    if (!address.field.empty()) {
        if (!isDimension)
            return address;
        NestSubscript inner{*index, std::nullopt};
        if (extent)
            inner.extent = IndexExpression::constant(*extent);
        address.inner.push_back(std::move(inner));
        return address;
    }
    if (isDimension)
        address.written.push_back(*index);
    else
        address.written.clear();
    if (address.array != noId && address.unit == 0)
        address.unit = sizeOf(type);
    if (address.offset)
        address.offset =
            IndexExpression::sum(*address.offset, *index * IndexExpression::constant(stride));
    return address;
}

NestPlace NestBuilder::place(ExprId id) {
    const Expr& expression = expr(id);
    switch (expression.kind) {
    case ExprKind::Variable: {
        if (expression.variable == noId)
            return {};
        if (const auto alias = frames_[frame_].aliases.find(expression.variable);
            alias != frames_[frame_].aliases.end())
            return alias->second;
        const Variable& variable = body().variable(expression.variable);
        const NestVariableKey key{frame_, expression.variable, ""};
        const bool isMemory =
            variable.storage == Storage::Shared || variable.storage == Storage::DynamicShared ||
            variable.storage == Storage::DeviceGlobal ||
            (variable.storage == Storage::Constant && !isNestInteger(variable.type));
        if (!variable.type.arrayExtents.empty() || (isMemory && !isNestPointer(variable.type))) {
            NestPlace result;
            result.address = pointerOf(key, variable.type);
            if (variable.type.arrayExtents.empty()) {
                result.address.unit = sizeOf(variable.type);
                result.address.array = arrayOf(key, variable.type);
                result.address.offset = IndexExpression{};
                result.address.reason.clear();
            }
            return result;
        }
        return {key, {}};
    }
    case ExprKind::Member: {
        NestPlace object;
        if (expression.children.empty() ||
            expr(expression.children.front()).name == "this") { // this->name
            const auto self = frames_[frame_].aliases.find(noId);
            if (self == frames_[frame_].aliases.end()) {
                object.address.reason = "a member of an object that is not followed";
                return object;
            }
            object = self->second;
        } else if (expression.isArrow) {
            object.address = pointer(expression.children.front());
        } else {
            object = place(expression.children.front());
        }
        if (object.variable) {
            const Variable& root =
                frames_[object.variable->frame].function->body.variable(object.variable->variable);
            object.variable->path += "." + expression.name;
            if (expression.type.arrayExtents.empty() && root.type.arrayExtents.empty())
                return object;
            // An array within an object.
            NestPlace result;
            result.address = pointerOf(*object.variable, expression.type);
            if (result.address.array == noId) {
                result.address = {};
                result.address.array = arrayOf(*object.variable, expression.type);
                result.address.offset = IndexExpression{};
                result.address.unit = elementSizeOf(expression.type);
                result.address.extents = expression.type.arrayExtents;
            }
            return result;
        }
        NestAddress& address = object.address;
        if (!address.choices.empty()) {
            address = eachOf(std::move(address), [&](NestAddress one) {
                one.field += "." + expression.name;
                one.extents = expression.type.arrayExtents;
                return one;
            });
            return object;
        }
        if (address.array == noId)
            return object;
        if (const auto& array = nest_.arrays[address.array]; array.isVariable && address.offset &&
                                                             address.offset->terms().empty() &&
                                                             array.variable != noId) {
            NestVariableKey key{array.frame, array.variable, "." + expression.name};
            return {key, {}};
        }
        address.field += "." + expression.name;
        address.extents = expression.type.arrayExtents;
        return object;
    }
    case ExprKind::Subscript: {
        NestPlace result;
        const Type& base = expr(expression.children[0]).type;
        if (!isNestPointer(base) && base.arrayExtents.empty() && base.scalar != ScalarKind::Unknown)
            result.address.reason = "an operator [] of a class";
        else
            result.address = subscripted(pointer(expression.children[0]), expression.children[1],
                                         expression.type);
        return result;
    }
    case ExprKind::Unary:
        if (expression.op == "*") {
            NestPlace result;
            const ExprId operand = expression.children.front();
            if (expr(operand).name == "this" && expr(operand).kind == ExprKind::Other) {
                const auto self = frames_[frame_].aliases.find(noId);
                return self == frames_[frame_].aliases.end() ? result : self->second;
            }
            result.address = pointer(operand);
            if (!result.address.extents.empty())
                result.address.extents.erase(result.address.extents.begin());
            result.address.written.clear();
            if (result.address.array != noId) {
                const NestArray& array = nest_.arrays[result.address.array];
                if (array.isVariable && array.variable != noId && result.address.offset &&
                    result.address.offset->terms().empty() && array.extents.empty())
                    return {NestVariableKey{array.frame, array.variable, result.address.field}, {}};
            }
            return result;
        }
        if (isIncrement(expression))
            return place(expression.children.front());
        return {};
    case ExprKind::Binary:
        return isAssignment(expression) ? place(expression.children.front()) : NestPlace{};
    case ExprKind::Cast: {
        NestPlace result = place(expression.children.front());
        if (!result.variable && expression.type.size != 0)
            result.address = inUnits(std::move(result.address), expression.type.size);
        return result;
    }
    default:
        return {};
    }
}

} // namespace kernelskill::analysis
