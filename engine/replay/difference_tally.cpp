#include "engine/replay/difference_tally.h"

#include "engine/replay/memory_numbers.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace kernelskill::engine {

DifferenceTally::DifferenceTally(std::string where, std::uint64_t address, std::uint64_t bytes,
                                 std::span<const TypedRange> elements) {
    difference_.where = std::move(where);
    difference_.address = address;
    difference_.bytes = bytes;
    stretches_.push_back({});
    std::vector<TypedRange> inside;
    for (const TypedRange& range : elements) {
        if (range.bytes > 0 && range.address < address + bytes &&
            range.bytes > address - std::min(address, range.address))
            inside.push_back(range);
    }
    std::ranges::sort(inside, {}, [](const TypedRange& range) {
        return std::pair(range.address, range.element);
    });
    for (const TypedRange& range : inside) {
        const std::uint64_t begin = range.address - std::min(range.address, address);
        const Stretch stretch{range.address < address ? 0 : begin, range.element};
        if (stretches_.back().offset == stretch.offset)
            stretches_.back() = stretch;
        else
            stretches_.push_back(stretch);
    }
}

DifferenceTally::Piece DifferenceTally::Piece::part(std::size_t from, std::size_t size) const {
    return {offset + from, found.subspan(from, size), expected.subspan(from, size),
            before.subspan(from, size)};
}

bool DifferenceTally::Piece::differs() const {
    return !std::ranges::equal(found, expected);
}

std::uint64_t DifferenceTally::Piece::differingBytes() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
        count += found[i] != expected[i] ? 1 : 0;
    return count;
}

void DifferenceTally::add(std::uint64_t offset, std::span<const std::byte> found,
                          std::span<const std::byte> expected, std::span<const std::byte> before) {
    const Piece piece{offset, found, expected, before};
    if (!piece.differs())
        return;
    if (!differs_)
        difference_.firstOffset =
            offset +
            static_cast<std::uint64_t>(std::ranges::mismatch(found, expected).in1 - found.begin());
    differs_ = true;
    difference_.differingBytes += piece.differingBytes();
    const std::uint64_t end = offset + found.size();
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
        const std::uint64_t last = i + 1 < stretches_.size() ? stretches_[i + 1].offset : end;
        const std::uint64_t from = std::max(offset, stretches_[i].offset);
        const std::uint64_t to = std::min(end, last);
        if (from < to)
            addStretch(piece.part(from - offset, to - from), stretches_[i].element,
                       stretches_[i].offset);
    }
}

/// Adds a piece of elements of one type, the first of which begins at the offset `begin`.
void DifferenceTally::addStretch(const Piece& piece, MemoryElement element, std::uint64_t begin) {
    if (!piece.differs())
        return;
    if (difference_.element != element) {
        isOfOneType_ = isOfOneType_ && difference_.element == MemoryElement::Bytes;
        difference_.element = element;
    }
    if (element == MemoryElement::Bytes)
        isOfOneType_ = false;
    const std::size_t size = numberSize(element);
    const std::size_t skipped = (size - (piece.offset - begin) % size) % size;
    std::size_t at = std::min(skipped, piece.found.size());
    addPart(piece.part(0, at));
    const double scale = scaleOf(element, piece.expected.subspan(at));
    for (; at + size <= piece.found.size(); at += size)
        if (const Piece number = piece.part(at, size); number.differs())
            addNumber(number, element, scale);
    addPart(piece.part(at, piece.found.size() - at));
}

void DifferenceTally::addNumber(const Piece& number, MemoryElement element, double scale) {
    const double relative = relativeDifference(numberAt(element, number.found.data()),
                                               numberAt(element, number.expected.data()), scale);
    // Two patterns of one number are still another result, of which the number says nothing.
    difference_.maxRelative = std::max(difference_.maxRelative, relative);
    if (element == MemoryElement::Bytes)
        addStrayBytes(number);
    else if (std::ranges::equal(number.expected, number.before))
        difference_.strayBytes += number.differingBytes();
}

/// Adds a part of an element, which is no number.
void DifferenceTally::addPart(const Piece& part) {
    if (!part.differs())
        return;
    addStrayBytes(part);
    leaveOut();
}

void DifferenceTally::addStrayBytes(const Piece& bytes) {
    for (std::size_t i = 0; i < bytes.found.size(); ++i)
        if (bytes.found[i] != bytes.expected[i] && bytes.expected[i] == bytes.before[i])
            ++difference_.strayBytes;
}

void DifferenceTally::leaveOut() {
    differs_ = true;
    difference_.maxRelative = std::numeric_limits<double>::infinity();
}

std::optional<MemoryDifference> DifferenceTally::result() const {
    if (!differs_)
        return std::nullopt;
    MemoryDifference result = difference_;
    if (!isOfOneType_)
        result.element = MemoryElement::Bytes;
    return result;
}

} // namespace kernelskill::engine
