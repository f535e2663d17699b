#include "engine/graph/kernels/contraction_fetch.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace kernelskill::engine::graph {

namespace {

using analysis::raise::Axis;
using analysis::raise::Index;
using analysis::raise::Scalar;

std::string both(const std::string& left, const std::string& right) {
    return left + (left.empty() || right.empty() ? "" : " && ") + right;
}

/// "x + 512 * i" without a sum of zero.
std::string shifted(const std::string& name, const std::string& by) {
    return by == "0" ? name : name + " + " + by;
}

} // namespace

bool FactorSide::isAsync() const {
    const bool isTurned = access.isAlongDepth && layout == TileLayout::DepthByOuter;
    return access.copied && (access.width == 1 || !isTurned);
}

void FactorFetch::write(CodeLines& lines, std::set<std::string>& taken) {
    const Share share = shareOf();
    const bool along = side_.access.isAlongDepth;
    const int width = side_.access.width;
    lines.add(fmt::format("// A thread loads of the {} factor's tile {}{}{}.", side_.name,
                          width == 1 ? "" : "four neighbours ",
                          share.slots == 1 ? "once" : fmt::format("{} times", share.slots),
                          share.slots == 1 ? ""
                                           : fmt::format(", {} apart in the {}", share.stride,
                                                         along ? side_.outer + "s" : "depth")));
    const std::string first = fmt::format("threadIdx.x % {}{}", share.perLine,
                                          width == 1 ? "" : fmt::format(" * {}", width));
    const bool isOneLine = share.perLine == tile_.threads();
    const std::string line =
        isOneLine ? std::string("0") : fmt::format("threadIdx.x / {}", share.perLine);
    lines.add(fmt::format("const int {} = {};", along ? depthName() : outerName(), first));
    lines.add(fmt::format("{} int {} = {};", isOneLine ? "constexpr" : "const",
                          along ? outerName() : depthName(), line));
    bindReads(taken);
    const auto stride = slotStride(share);
    if (!along || stride)
        declareOuter(lines, fmt::format("first{} + {}", side_.capital, outerName()));
    if (!side_.isAsync())
        lines.add(fmt::format("float {}Next[{}];", side_.name, share.slots * width));
    lines.open(fmt::format("const auto fetch{} = [&](int step{}) {{", side_.title,
                           side_.isAsync() ? ", float* tile" : ""));
    declareStep(lines);
    if (stride)
        writeLinear(lines, share, *stride);
    else
        writeEach(lines, share);
    lines.close("};");
    if (!side_.isAsync())
        writeStore(lines, share);
    lines.add("");
}

FactorFetch::Share FactorFetch::shareOf() const {
    const bool along = side_.access.isAlongDepth;
    const int line = along ? tile_.depth : side_.tile;
    const int lines = along ? side_.tile : tile_.depth;
    Share share;
    share.perLine = line / side_.access.width;
    share.stride = tile_.threads() / share.perLine;
    share.isPartial = share.stride > lines;
    share.slots = share.isPartial ? 1 : lines / share.stride;
    return share;
}

std::optional<std::int64_t> FactorFetch::slotStride(const Share& share) const {
    const std::vector<Axis>& axes =
        side_.access.isAlongDepth ? side_.access.outer : side_.access.inner;
    if (!side_.access.copied || axes.size() != 1 || share.isPartial)
        return std::nullopt;
    const bool isTold = std::ranges::any_of(
        side_.access.guards, [&](const Scalar& guard) { return mentions(guard, axes[0].id); });
    const auto stride = strideOf(side_.access.offset, axes[0]);
    return isTold || !stride ? std::nullopt : std::optional(*stride * share.stride);
}

/// Names for the factor's rows or columns where it is loaded.
void FactorFetch::bindReads(std::set<std::string>& taken) {
    if (side_.access.isInnerJoined)
        text_.bind(side_.access.inner[0].id, "place");
    if (side_.access.isOuterJoined) {
        text_.bind(side_.access.outer[0].id, numberName());
        return;
    }
    for (const Axis& axis : side_.axes) {
        std::string name = axis.name + "_read";
        while (!taken.insert(name).second)
            name += "_";
        text_.bind(axis.id, name);
    }
}

void FactorFetch::declareOuter(CodeLines& lines, const std::string& number) {
    lines.add(fmt::format("const int {} = {};", numberName(), number));
    if (!side_.access.isOuterJoined)
        declareAxes(lines, text_, side_.axes, numberName());
}

/// The taps of a step, and the first element of the inner depth.
void FactorFetch::declareStep(CodeLines& lines) {
    if (depth_.taps.empty()) {
        lines.add("const int firstDepth = step * tileDepth;");
        return;
    }
    const Index blocks = roundedUpQuotient(extentOf(depth_.inner), tile_.depth);
    if (blocks.constant() == 1) {
        lines.add("constexpr int firstDepth = 0;");
        declareAxes(lines, text_, depth_.taps, "step");
        return;
    }
    lines.add(
        fmt::format("const int firstDepth = step % {} * tileDepth;", text_.index(blocks, true)));
    lines.add(fmt::format("const int tap = step / {};", text_.index(blocks, true)));
    declareAxes(lines, text_, depth_.taps, "tap");
}

/// The position in the inner depth, also where it lies beyond the end.
void FactorFetch::declareDepth(CodeLines& lines, const std::string& number) {
    if (depth_.inner.size() < 2) {
        declareAxes(lines, text_, depth_.inner, number);
        return;
    }
    lines.add(fmt::format("const int place = {};", number));
    if (!side_.access.isInnerJoined)
        declareAxes(lines, text_, depth_.inner, "place");
}

/// `row` (or `column`) and `depth`: the place of a slot's first element in the tile.
void FactorFetch::declareSlot(CodeLines& lines, const Share& share) const {
    const std::string offset = share.slots == 1    ? ""
                               : share.stride == 1 ? " + slot"
                                                   : fmt::format(" + slot * {}", share.stride);
    const bool along = side_.access.isAlongDepth;
    lines.add(fmt::format("const int {} = {}{};", side_.outer, outerName(), along ? offset : ""));
    lines.add(fmt::format("const int depth = {}{};", depthName(), along ? "" : offset));
    if (share.isPartial) {
        lines.add(fmt::format("if ({} >= {})", along ? side_.outer : "depth",
                              along ? side_.tile : tile_.depth));
        lines.add("    break;");
    }
}

void FactorFetch::openSlots(CodeLines& lines, const Share& share) const {
    lines.add("#pragma unroll");
    lines.open(fmt::format("for (int slot = 0; slot < {}; ++slot) {{", share.slots));
}

std::string FactorFetch::outerCondition(const std::string& number) const {
    const auto extent = extentOf(side_.axes).constant();
    return extent && *extent % side_.tile == 0 ? "" : fmt::format("{} < {}s", number, side_.outer);
}

std::string FactorFetch::depthCondition(const std::string& number) {
    const Index inner = extentOf(depth_.inner);
    const auto extent = inner.constant();
    return extent && *extent % tile_.depth == 0
               ? ""
               : fmt::format("{} < {}", number, text_.index(inner));
}

std::string FactorFetch::guardCondition(CodeLines& lines) {
    if (side_.access.guards.empty())
        return "";
    const CudaText::Values values = text_.values(side_.access.guards);
    lines.addAll(values.statements);
    std::string condition;
    std::set<std::string> seen;
    for (const std::string& value : values.values) {
        if (!seen.insert(value).second)
            continue;
        const bool binds = value.find("||") == std::string::npos && !value.contains('?');
        condition = both(condition, binds ? value : "(" + value + ")");
    }
    return condition;
}

/// All slots read at constant distances from the first.
void FactorFetch::writeLinear(CodeLines& lines, const Share& share, std::int64_t stride) {
    const bool along = side_.access.isAlongDepth;
    declareDepth(lines, "firstDepth + " + depthName());
    lines.add(fmt::format("const float* const source = {};",
                          shifted(bufferName(), text_.index(side_.access.offset))));
    std::string ofStep = guardCondition(lines);
    ofStep =
        both(along ? depthCondition("firstDepth + " + depthName()) : outerCondition(numberName()),
             ofStep);
    if (!ofStep.empty())
        lines.add(fmt::format("const bool isInside = {};", ofStep));
    openSlots(lines, share);
    const std::string ofSlot =
        along ? outerCondition(fmt::format("first{} + {}", side_.capital, side_.outer))
              : depthCondition("firstDepth + depth");
    std::string condition = ofStep.empty() ? "" : "isInside";
    if (side_.isAsync())
        declareSlot(lines, share);
    else if (!ofSlot.empty())
        lines.add(fmt::format("const int {0} = {1} + slot * {2};", along ? side_.outer : "depth",
                              along ? outerName() : depthName(), share.stride));
    if (!ofSlot.empty()) {
        lines.add(fmt::format("const bool isLoaded = {};", both(condition, ofSlot)));
        condition = "isLoaded";
    }
    // Beyond the last row, also in buffers whose own indices are narrow.
    const bool isFar = std::abs(stride) >= (std::int64_t{1} << 31) / share.slots;
    const std::string source = share.slots == 1
                                   ? "source"
                                   : fmt::format("source + slot * {}{}", stride, isFar ? "LL" : "");
    if (side_.isAsync()) {
        writeCopy(lines, source, condition);
    } else {
        const std::string zero = side_.access.width == 1 ? "0.0f" : "make_float4(0, 0, 0, 0)";
        const std::string type = side_.access.width == 1 ? "float" : "float4";
        const std::string value = fmt::format("*reinterpret_cast<const {}*>({})", type, source);
        lines.add(fmt::format("*reinterpret_cast<{}*>(&{}Next[slot * {}]) =", type, side_.name,
                              side_.access.width));
        lines.add(fmt::format(
            "    {};",
            condition.empty() ? value : fmt::format("{} ? {} : {}", condition, value, zero)));
    }
    lines.close();
}

/// Each slot computes its own position.
void FactorFetch::writeEach(CodeLines& lines, const Share& share) {
    openSlots(lines, share);
    declareSlot(lines, share);
    if (side_.access.isAlongDepth)
        declareOuter(lines, fmt::format("first{} + {}", side_.capital, side_.outer));
    declareDepth(lines, "firstDepth + depth");
    std::string condition =
        both(outerCondition(numberName()), depthCondition("firstDepth + depth"));
    const std::string guards = guardCondition(lines);
    condition = both(condition, guards);
    if (!condition.empty())
        lines.add(fmt::format("const bool isInside = {};", condition));
    if (side_.isAsync())
        writeCopy(lines, shifted(bufferName(), text_.index(side_.access.offset)),
                  condition.empty() ? "" : "isInside");
    else
        writeLoad(lines, condition.empty());
    lines.close();
}

/// Into registers.
void FactorFetch::writeLoad(CodeLines& lines, bool isAlways) {
    const int width = side_.access.width;
    const std::string target =
        fmt::format("{}Next[slot{}]", side_.name, width == 1 ? "" : fmt::format(" * {}", width));
    if (width > 1) {
        const std::string value =
            fmt::format("*reinterpret_cast<const float4*>({})",
                        shifted(bufferName(), text_.index(side_.access.offset)));
        lines.add(fmt::format("*reinterpret_cast<float4*>(&{}) = {}{}{};", target,
                              isAlways ? "" : "isInside ? ", value,
                              isAlways ? "" : " : make_float4(0, 0, 0, 0)"));
        return;
    }
    if (!isAlways) {
        lines.add(fmt::format("{} = 0.0f;", target));
        lines.open("if (isInside) {");
    }
    const CudaText::Values value = text_.values({side_.access.value});
    lines.addAll(value.statements);
    lines.add(fmt::format("{} = {};", target, value.values[0]));
    if (!isAlways)
        lines.close();
}

/// Bytes that are not copied become zeros.
void FactorFetch::writeCopy(CodeLines& lines, const std::string& source,
                            const std::string& condition) {
    const int bytes = side_.access.width * 4;
    lines.add(fmt::format("__pipeline_memcpy_async(&tile[{}], {}, {}{});", place("depth"), source,
                          bytes,
                          condition.empty() ? "" : fmt::format(", {} ? 0 : {}", condition, bytes)));
}

/// Moves what was loaded from registers to shared memory.
void FactorFetch::writeStore(CodeLines& lines, const Share& share) {
    const int width = side_.access.width;
    lines.open(fmt::format("const auto store{} = [&](float* tile) {{", side_.title));
    openSlots(lines, share);
    declareSlot(lines, share);
    for (int part = 0; part < width; ++part)
        lines.add(fmt::format("tile[{}] = {}Next[slot{}{}];",
                              place(width == 1 ? "depth" : fmt::format("(depth + {})", part)),
                              side_.name, width == 1 ? "" : fmt::format(" * {}", width),
                              width == 1 ? "" : fmt::format(" + {}", part)));
    lines.close();
    lines.close("};");
}

std::string FactorFetch::place(const std::string& depth) const {
    return placeText(side_.layout, tile_, side_.tile, depth, side_.outer);
}

std::string FactorFetch::bufferName() const {
    return text_.program().buffers.at(*side_.access.copied).name;
}

} // namespace kernelskill::engine::graph
