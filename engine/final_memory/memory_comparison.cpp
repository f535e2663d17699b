#include "engine/final_memory/memory_comparison.h"

#include "analysis/source/try.h"
#include "engine/capture/kernel_symbol.h"
#include "engine/final_memory/element_type.h"
#include "engine/replay/memory_numbers.h"
#include "engine/storage/mapped_file.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <span>
#include <utility>

namespace kernelskill::engine {
namespace {

using Bytes = std::span<const std::byte>;

/// A buffer of one run and that of another run: indices.
struct Match {
    std::size_t one = 0;
    std::size_t other = 0;
};

/// The buffers of the same number if the sizes of all agree; else, in order, those of each size of
/// which both runs have as many. Which ones a program has added cannot be told.
std::vector<Match> matchesOf(const std::vector<FinalBuffer>& ones,
                             const std::vector<FinalBuffer>& others) {
    std::vector<Match> matches;
    if (std::ranges::equal(ones, others, {}, &FinalBuffer::bytes, &FinalBuffer::bytes)) {
        for (std::size_t i = 0; i < ones.size(); ++i)
            matches.push_back({i, i});
        return matches;
    }
    std::map<std::uint64_t, std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> bySize;
    for (std::size_t i = 0; i < ones.size(); ++i)
        bySize[ones[i].bytes].first.push_back(i);
    for (std::size_t i = 0; i < others.size(); ++i)
        bySize[others[i].bytes].second.push_back(i);
    for (const auto& [bytes, both] : bySize)
        if (both.first.size() == both.second.size())
            for (std::size_t i = 0; i < both.first.size(); ++i)
                matches.push_back({both.first[i], both.second[i]});
    return matches;
}

template <typename T>
T valueAt(Bytes bytes, std::size_t at) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

double toleranceOf(MemoryElement element) {
    switch (element) {
    case MemoryElement::Float16:
        return 1e-2;
    case MemoryElement::BFloat16:
        return 5e-2;
    default:
        return finalMemoryTolerance;
    }
}

/// The elements of a buffer that differ.
struct Difference {
    std::uint64_t count = 0;
    std::uint64_t first = 0; ///< An index.

    void add(std::uint64_t index) {
        if (count++ == 0)
            first = index;
    }
};

Difference floatDifference(Bytes expected, Bytes found, MemoryElement element) {
    constexpr std::size_t page = 64u << 10; // A page's numbers give the scale of a difference.
    const std::size_t size = numberSize(element);
    const double tolerance = toleranceOf(element);
    Difference difference;
    for (std::size_t begin = 0; begin < expected.size(); begin += page) {
        const Bytes one = expected.subspan(begin, std::min(page, expected.size() - begin));
        const Bytes other = found.subspan(begin, one.size());
        if (std::ranges::equal(one, other))
            continue;
        const double scale = scaleOf(element, one);
        for (std::size_t at = 0; at + size <= one.size(); at += size)
            if (relativeDifference(numberAt(element, one.data() + at),
                                   numberAt(element, other.data() + at), scale) > tolerance)
                difference.add((begin + at) / size);
    }
    return difference;
}

Difference byteDifference(Bytes expected, Bytes found) {
    Difference difference;
    for (std::size_t at = 0; at < expected.size(); ++at)
        if (expected[at] != found[at])
            difference.add(at);
    return difference;
}

/// Whether the word is one floating-point number of an ordinary size in both, close to each other.
/// Small integers are no such numbers.
template <typename T>
bool isCloseNumber(Bytes expected, Bytes found, std::size_t at) {
    constexpr double least = 1e-30;
    constexpr double most = 1e30;
    const double one = valueAt<T>(expected, at);
    const double other = valueAt<T>(found, at);
    const auto isOrdinary = [&](double value) {
        return std::abs(value) >= least && std::abs(value) <= most;
    };
    return isOrdinary(one) && isOrdinary(other) &&
           relativeDifference(one, other, 0) <= finalMemoryTolerance;
}

/// Holds the addresses of matching buffers, to compare addresses in the contents of two runs.
class Places {
public:
    Places(const std::vector<FinalBuffer>& ones, const std::vector<FinalBuffer>& others,
           const std::vector<Match>& matches) {
        for (const Match& match : matches)
            places_[ones[match.one].address] = {ones[match.one].bytes, others[match.other].address};
    }
    /// Whether both addresses are of the same place in matching buffers.
    [[nodiscard]] bool areSame(std::uint64_t one, std::uint64_t other) const {
        const auto next = places_.upper_bound(one);
        if (next == places_.begin())
            return false;
        const auto& [address, place] = *std::prev(next);
        return one - address <= place.bytes && other - place.other == one - address;
    }

private:
    struct Place {
        std::uint64_t bytes = 0;
        std::uint64_t other = 0; ///< The other run's address.
    };
    std::map<std::uint64_t, Place> places_;
};

/// The type of a structure's numbers is not known: all that differ have to be close as float32, or
/// all as float64, or addresses of the same places. Otherwise counts bytes.
Difference unknownDifference(Bytes expected, Bytes found, const Places& places) {
    constexpr std::size_t word = sizeof(std::uint64_t);
    bool isFloat32 = true;
    bool isFloat64 = true;
    for (std::size_t at = 0; at < expected.size(); at += word) {
        const std::size_t size = std::min(word, expected.size() - at);
        if (std::ranges::equal(expected.subspan(at, size), found.subspan(at, size)))
            continue;
        if (size < word)
            return byteDifference(expected, found);
        if (places.areSame(valueAt<std::uint64_t>(expected, at), valueAt<std::uint64_t>(found, at)))
            continue;
        isFloat64 = isFloat64 && isCloseNumber<double>(expected, found, at);
        for (const std::size_t half : {at, at + word / 2})
            isFloat32 = isFloat32 && (valueAt<std::uint32_t>(expected, half) ==
                                          valueAt<std::uint32_t>(found, half) ||
                                      isCloseNumber<float>(expected, found, half));
        if (!isFloat32 && !isFloat64)
            return byteDifference(expected, found);
    }
    return {};
}

Difference differenceOf(Bytes expected, Bytes found, std::optional<MemoryElement> element,
                        const Places& places) {
    if (!element)
        return unknownDifference(expected, found, places);
    return element == MemoryElement::Bytes ? byteDifference(expected, found)
                                           : floatDifference(expected, found, *element);
}

/// A run's buffers with their contents.
struct Recorded {
    const FinalMemory& memory;
    MappedFile file;

    static Result<Recorded> open(const FinalMemory& memory) {
        KERNELSKILL_TRY(auto file, MappedFile::open(memory.contents.string(), Links::Refused));
        return Recorded{memory, std::move(file)};
    }
    /// nullopt if they were not recorded.
    [[nodiscard]] std::optional<Bytes> contentsOf(std::size_t at) const {
        const FinalBuffer& buffer = memory.buffers[at];
        if (!buffer.offset || *buffer.offset > file.bytes().size() ||
            buffer.bytes > file.bytes().size() - *buffer.offset)
            return std::nullopt;
        return file.bytes().subspan(*buffer.offset, buffer.bytes);
    }
};

/// "the buffer of 4096 bytes that 'scale' gets as parameter 2"
std::string nameOf(const FinalBuffer& buffer) {
    if (buffer.uses.empty())
        return fmt::format("buffer {} of {} bytes", buffer.number, buffer.bytes);
    const BufferUse& use = buffer.uses.front();
    return fmt::format("the buffer of {} bytes that '{}' gets as parameter {}", buffer.bytes,
                       kernelSymbol(use.symbol).qualifiedName, use.parameter + 1);
}

std::string sentence(const FinalBuffer& buffer, const Difference& difference,
                     std::optional<MemoryElement> element, Bytes expected, Bytes found) {
    const MemoryElement shown = element.value_or(MemoryElement::Bytes);
    const bool isNumber = shown != MemoryElement::Bytes;
    const std::size_t size = isNumber ? numberSize(shown) : 1;
    std::string text =
        fmt::format("{}: {} of {} {} differ, the first at {}", nameOf(buffer), difference.count,
                    buffer.bytes / size, spelling(shown), difference.first);
    if (isNumber) {
        const std::size_t at = difference.first * size;
        text += fmt::format(": {:.7g} instead of {:.7g}", numberAt(shown, found.data() + at),
                            numberAt(shown, expected.data() + at));
    }
    return text;
}

} // namespace

Result<ComparedBuffers> ComparedBuffers::of(FinalMemory first, const FinalMemory& second) {
    ComparedBuffers compared(std::move(first));
    for (std::size_t at = 0; at < compared.first_.buffers.size(); ++at)
        compared.compared_.push_back(at);
    KERNELSKILL_CHECK(compared.add(second));
    return compared;
}

Result<void> ComparedBuffers::add(const FinalMemory& another) {
    const auto& ones = first_.buffers;
    KERNELSKILL_TRY(const auto before, Recorded::open(first_));
    KERNELSKILL_TRY(const auto after, Recorded::open(another));
    auto matches = matchesOf(ones, another.buffers);
    const Places places(ones, another.buffers, matches);
    std::ranges::sort(matches, {}, &Match::one);
    std::vector<std::size_t> same;
    for (const std::size_t at : compared_) {
        const auto match = std::ranges::lower_bound(matches, at, {}, &Match::one);
        if (match == matches.end() || match->one != at) {
            ++unstable_;
            continue;
        }
        const auto expected = before.contentsOf(at);
        const auto found = after.contentsOf(match->other);
        if (!expected || !found) {
            ++unrecorded_;
            whyUnrecorded_ = expected ? another.buffers[match->other].why : ones[at].why;
        } else if (differenceOf(*expected, *found, elementOf(ones[at].uses), places).count > 0) {
            ++unstable_;
        } else {
            same.push_back(at);
        }
    }
    compared_ = std::move(same);
    return {};
}

std::uint64_t ComparedBuffers::bytes() const {
    std::uint64_t sum = 0;
    for (const std::size_t at : compared_)
        sum += first_.buffers[at].bytes;
    return sum;
}

std::string ComparedBuffers::note() const {
    std::string why;
    if (unstable_ > 0)
        why = fmt::format("{} not the same after all runs of the original", unstable_);
    if (unrecorded_ > 0)
        why += fmt::format("{}{} not recorded{}", why.empty() ? "" : ", ", unrecorded_,
                           whyUnrecorded_.empty() ? "" : " (" + whyUnrecorded_ + ")");
    if (!first_.isComplete)
        why += std::string(why.empty() ? "" : ", ") +
               "those that it does not free are not known, since it does not end by exit()";
    if (why.empty())
        return {};
    return fmt::format("of {} buffers on the GPU {} are compared: {}", first_.buffers.size(),
                       compared_.size(), why);
}

Result<std::optional<std::string>> ComparedBuffers::differenceTo(const FinalMemory& edited) const {
    const auto& ones = first_.buffers;
    KERNELSKILL_TRY(const auto before, Recorded::open(first_));
    KERNELSKILL_TRY(const auto after, Recorded::open(edited));
    const auto matches = matchesOf(ones, edited.buffers);
    const Places places(ones, edited.buffers, matches);
    for (const Match& match : matches) {
        if (!std::ranges::binary_search(compared_, match.one))
            continue;
        const auto expected = before.contentsOf(match.one);
        const auto found = after.contentsOf(match.other);
        if (!expected || !found)
            continue;
        const auto element = elementOf(ones[match.one].uses);
        if (const auto difference = differenceOf(*expected, *found, element, places);
            difference.count > 0)
            return sentence(ones[match.one], difference, element, *expected, *found);
    }
    return std::nullopt;
}

} // namespace kernelskill::engine
