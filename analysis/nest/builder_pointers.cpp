#include "analysis/model/dependence.h"
#include "analysis/nest/builder.h"

#include <algorithm>
#include <utility>

namespace kernelskill::analysis {

namespace {

NestAddress unknownPointer(std::string reason) {
    NestAddress address;
    address.reason = std::move(reason);
    return address;
}

/// An address with its conditions as choices.
std::vector<NestChoice> choicesOf(const NestCondition& condition, const NestAddress& address) {
    if (address.choices.empty())
        return {{condition, address}};
    std::vector<NestChoice> choices = address.choices;
    for (NestChoice& choice : choices)
        choice.when = both(condition, choice.when);
    return choices;
}

} // namespace

bool NestAddress::operator==(const NestAddress&) const = default;

NestAddress NestBuilder::inUnits(NestAddress address, std::uint32_t unit) const {
    if (!address.choices.empty())
        return eachOf(std::move(address),
                      [&](NestAddress one) { return inUnits(std::move(one), unit); });
    if (address.unit == unit || address.array == noId)
        return address;
    if (!address.field.empty()) {
        const NestArray& array = nest_.arrays[address.array];
        if (array.lanes < 2 || unit == array.elementSize / array.lanes)
            return address; // The part has a size of its own.
        address = outOfField(std::move(address));
    }
    const std::uint32_t from = std::exchange(address.unit, unit);
    address.extents.clear();
    address.written.clear();
    if (!address.offset || address.offset->terms().empty())
        return address;
    std::optional<IndexExpression> scaled = IndexExpression{};
    for (const auto& [monomial, coefficient] : address.offset->terms()) {
        if (from == 0 || unit == 0 || coefficient * from % unit != 0) {
            scaled.reset();
            break;
        }
        IndexExpression term = IndexExpression::constant(coefficient * from / unit);
        for (const Symbol symbol : monomial)
            term = term * IndexExpression::symbol(symbol);
        scaled = *scaled + term;
    }
    address.offset = std::move(scaled);
    if (!address.offset)
        address.reason = "a cast to an element of another size at an offset that may not fit";
    return address;
}

/// A pointer to a part of a vector as one to its numbers, so that it can leave the part; opaque for
/// other objects, whose layout is not known.
NestAddress NestBuilder::outOfField(NestAddress address) const {
    if (!address.choices.empty())
        return eachOf(std::move(address),
                      [&](NestAddress one) { return outOfField(std::move(one)); });
    if (address.field.empty() || address.array == noId)
        return address;
    const NestArray& array = nest_.arrays[address.array];
    constexpr std::string_view names = "xyzw";
    const std::size_t lane = address.field.size() == 2 ? names.find(address.field[1]) : names.npos;
    const bool isVector = lane < array.lanes && array.lanes > 1 && address.inner.empty() &&
                          address.unit == array.elementSize && address.unit % array.lanes == 0;
    address.field.clear();
    address.inner.clear();
    address.extents.clear();
    address.written.clear();
    if (isVector && address.offset) {
        address.unit /= array.lanes;
        address.offset = IndexExpression::constant(array.lanes) * *address.offset +
                         IndexExpression::constant(static_cast<std::int64_t>(lane));
    } else {
        address.offset.reset();
        address.reason = "a pointer into an object is moved";
    }
    return address;
}

NestAddress NestBuilder::moved(NestAddress address, const IndexExpression& by) const {
    if (!address.choices.empty())
        return eachOf(std::move(address),
                      [&](NestAddress one) { return moved(std::move(one), by); });
    if (by.terms().empty())
        return address;
    address = outOfField(std::move(address));
    if (address.extents.size() > 1) { // By rows.
        std::int64_t stride = 1;
        for (std::size_t i = 1; i < address.extents.size(); ++i)
            stride *= address.extents[i];
        address.extents.clear();
        address.written.clear();
        address.offset =
            address.offset ? std::optional(*address.offset + by * IndexExpression::constant(stride))
                           : std::nullopt;
        return address;
    }
    address.extents.clear();
    address.written.clear();
    if (address.offset)
        address.offset = IndexExpression::sum(*address.offset, by);
    if (!address.offset && address.reason.empty())
        address.reason = "a sum that is too long";
    return address;
}

/// `then` where the condition holds, else `otherwise`.
NestAddress NestBuilder::chosen(const NestCondition& condition, const NestAddress& then,
                                const NestAddress& otherwise) {
    if (then == otherwise)
        return then;
    if (then.array != noId && then.array == otherwise.array && then.unit == otherwise.unit &&
        then.field == otherwise.field && then.inner == otherwise.inner && then.offset &&
        otherwise.offset) {
        NestAddress address = then;
        address.extents.clear();
        address.written.clear();
        address.offset = IndexExpression::symbol(
            nest_.symbols.selection(condition, *then.offset, *otherwise.offset));
        return address;
    }
    NestAddress address;
    address.choices = choicesOf(condition, then);
    std::ranges::move(choicesOf(negation(condition), otherwise),
                      std::back_inserter(address.choices));
    constexpr std::size_t maxChoices = 4;
    const bool isFollowed = std::ranges::all_of(address.choices, [&](const NestChoice& choice) {
        return choice.address.array != noId && !nest_.arrays[choice.address.array].isVariable;
    });
    return isFollowed && address.choices.size() <= maxChoices
               ? address
               : unknownPointer("a pointer that is one of several");
}

/// Adds what the pointer may hold when `value` is assigned to it: addresses, and further variables.
void NestBuilder::addTargets(ExprId value, PointerTargets& targets) {
    if (value == noId) {
        targets.isLost = true;
        return;
    }
    const Expr& expression = expr(value);
    switch (expression.kind) {
    case ExprKind::Cast:
        addTargets(expression.children.front(), targets);
        return;
    case ExprKind::Conditional:
        addTargets(expression.children[1], targets);
        addTargets(expression.children[2], targets);
        return;
    case ExprKind::Variable:
        if (expression.variable != noId && expression.type.arrayExtents.empty() &&
            !frames_[frame_].aliases.contains(expression.variable)) {
            targets.variables.push_back(expression.variable);
            return;
        }
        break;
    case ExprKind::Binary:
        if (expression.op == "+" || expression.op == "-") {
            targets.isMoved = true;
            const Type& left = expr(expression.children[0]).type;
            const bool isLeft = isNestPointer(left) || !left.arrayExtents.empty();
            addTargets(expression.children[isLeft ? 0 : 1], targets);
            return;
        }
        break;
    default:
        break;
    }
    targets.isMoved = true;
    const VariableId root = rootVariable(body(), value); // `&q[i]` moves with q.
    if (root != noId && body().variable(root).type.pointerDepth == 1 &&
        body().variable(root).type.arrayExtents.empty() && !frames_[frame_].aliases.contains(root))
        targets.variables.push_back(root);
    else
        targets.addresses.push_back(pointer(value));
}

/// A pointer that the loop changes, when a round begins: in whatever arrays it may be by then.
NestAddress NestBuilder::carriedPointer(VariableId variable, const std::vector<Change>& changes,
                                        const State& before) {
    PointerTargets targets;
    targets.variables.push_back(variable);
    for (std::size_t next = 0; next < targets.variables.size(); ++next) {
        const VariableId one = targets.variables[next];
        if (std::ranges::find(targets.variables.begin(),
                              targets.variables.begin() + static_cast<std::ptrdiff_t>(next),
                              one) != targets.variables.begin() + static_cast<std::ptrdiff_t>(next))
            continue;
        const auto start = before.find({frame_, one, ""});
        const Variable& declared = body().variable(one);
        if (start != before.end() && start->second.address)
            targets.addresses.push_back(*start->second.address);
        else if (declared.storage != Storage::Local)
            targets.addresses.push_back(pointerOf({frame_, one, ""}, declared.type));
        else if (declared.init != noId) // Each round has it anew.
            addTargets(declared.init, targets);
        for (const Change& change : changes) {
            if (change.variable != one)
                continue;
            const Expr* expression = change.expression == noId ? nullptr : &expr(change.expression);
            if (expression == nullptr)
                targets.isLost = true;
            else if (expression->op == "=")
                addTargets(expression->children[1], targets);
            else
                targets.isMoved = true;
        }
    }
    std::vector<NestAddress> places;
    for (const NestAddress& target : targets.addresses)
        for (const NestChoice& choice : choicesOf({}, target)) {
            NestAddress place =
                inUnits(outOfField(choice.address), elementSizeOf(body().variable(variable).type));
            place.extents.clear();
            place.written.clear();
            if (place.array == noId || nest_.arrays[place.array].isVariable || !place.offset)
                targets.isLost = true;
            const bool isKnown = std::ranges::any_of(places, [&](const NestAddress& other) {
                return targets.isMoved ? other.array == place.array && other.unit == place.unit
                                       : other == place;
            });
            if (!isKnown)
                places.push_back(std::move(place));
        }
    constexpr std::size_t maxPlaces = 4;
    if (targets.isLost || places.empty() || places.size() > maxPlaces)
        return unknownPointer("a pointer that the loop sets to others");
    if (places.size() == 1)
        return places.front();
    const std::string& name = body().variable(variable).name;
    NestAddress result;
    for (NestAddress& place : places) {
        if (targets.isMoved) {
            place.offset = freshValue(name + "~", {});
            carried_.insert(place.offset->terms().begin()->first.front());
        }
        result.choices.push_back(
            {unknownCondition(name + " points to " + nest_.arrays[place.array].name), place});
    }
    return result;
}

} // namespace kernelskill::analysis
