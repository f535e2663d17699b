#include "engine/inputs/name_guesses.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>

namespace kernelskill::engine {
namespace {

struct Entry {
    std::string_view name;
    std::int64_t value;
    bool isExtent;
};

/// Whole names, case as written: one-letter names mean different things in the two cases.
constexpr std::array exactNames = {
    Entry{"n", 4096, true}, Entry{"N", 4096, true}, Entry{"M", 128, true}, Entry{"K", 128, true},
    Entry{"m", 128, true},  Entry{"k", 0, false},   Entry{"w", 128, true}, Entry{"W", 128, true},
    Entry{"h", 64, true},   Entry{"H", 64, true},   Entry{"D", 64, true},  Entry{"d", 64, true},
    Entry{"B", 4, true},    Entry{"b", 4, true},    Entry{"T", 64, true},  Entry{"t", 1, false},
    Entry{"C", 64, true},   Entry{"c", 16, true},   Entry{"OC", 64, true}, Entry{"NH", 4, false},
    Entry{"HS", 16, false}, Entry{"hs", 16, false}, Entry{"V", 256, true}, Entry{"Vp", 256, true},
    Entry{"P", 256, true},  Entry{"R", 64, true},   Entry{"S", 64, true},  Entry{"L", 64, true},
    Entry{"nx", 64, true},  Entry{"ny", 64, true},  Entry{"nz", 16, true}, Entry{"i", 0, false},
    Entry{"j", 0, false},   Entry{"s", 1, false},   Entry{"r", 3, false},  Entry{"x", 1, false},
    Entry{"y", 1, false},   Entry{"z", 1, false},   Entry{"G", 8, true},   Entry{"q", 0, false}};

/// Parts of lower-case names, tried in order.
constexpr std::array partialNames = {
    Entry{"warp_size", 32, false},  Entry{"warpsize", 32, false},   Entry{"block_size", 256, false},
    Entry{"blocksize", 256, false}, Entry{"block_dim", 256, false}, Entry{"blockdim", 256, false},
    Entry{"threads", 256, false},   Entry{"num_blocks", 32, false}, Entry{"numblocks", 32, false},
    Entry{"blocks", 32, false},     Entry{"grid", 32, false},       Entry{"block", 256, false},
    Entry{"tpb", 256, false},       Entry{"tile", 16, false},       Entry{"radius", 3, false},
    Entry{"ksize", 3, false},       Entry{"kernel_size", 3, false}, Entry{"kernelsize", 3, false},
    Entry{"filter", 3, false},      Entry{"kernel_w", 3, false},    Entry{"kernel_h", 3, false},
    Entry{"dilation", 1, false},    Entry{"stride_h", 1, false},    Entry{"stride_w", 1, false},
    Entry{"padding", 1, false},     Entry{"pad", 1, false},         Entry{"offset", 0, false},
    Entry{"start", 0, false},       Entry{"begin", 0, false},       Entry{"first", 0, false},
    Entry{"index", 0, false},       Entry{"idx", 0, false},         Entry{"seed", 42, false},
    Entry{"iter", 4, false},        Entry{"step", 1, false},        Entry{"levels", 16, true},
    Entry{"level", 1, false},       Entry{"depth", 16, true},       Entry{"shift", 0, false},
    Entry{"bits", 4, false},        Entry{"flag", 0, false},        Entry{"mode", 0, false},
    Entry{"incx", 1, false},        Entry{"incy", 1, false},        Entry{"inc", 1, false},
    Entry{"head_size", 16, false},  Entry{"head_dim", 16, false},   Entry{"heads", 4, false},
    Entry{"batch", 4, true},        Entry{"channel", 16, true},     Entry{"bins", 64, true},
    Entry{"vocab", 256, true},      Entry{"seq", 64, true},         Entry{"feature", 32, true},
    Entry{"cluster", 8, true},      Entry{"class", 16, true},       Entry{"width", 128, true},
    Entry{"cols", 128, true},       Entry{"column", 128, true},     Entry{"pitch", 128, true},
    Entry{"stride", 128, true},     Entry{"ld", 128, true},         Entry{"height", 64, true},
    Entry{"rows", 64, true},        Entry{"nnz", 1024, true},       Entry{"nodes", 1024, true},
    Entry{"edges", 1024, true},     Entry{"size", 4096, true},      Entry{"length", 4096, true},
    Entry{"len", 4096, true},       Entry{"count", 4096, true},     Entry{"total", 4096, true},
    Entry{"elements", 4096, true},  Entry{"points", 1024, true},    Entry{"particles", 1024, true},
    Entry{"bodies", 1024, true},    Entry{"dim", 64, true},         Entry{"num", 1024, true},
    Entry{"end", 1024, true},       Entry{"time", 64, true},        Entry{"max", 1024, true},
    Entry{"capacity", 8192, true}};

struct FloatEntry {
    std::string_view name;
    double value;
};

constexpr std::array floatNames = {
    FloatEntry{"beta1", 0.9},     FloatEntry{"beta2", 0.999},    FloatEntry{"eps", 1e-5},
    FloatEntry{"learning", 1e-3}, FloatEntry{"lr", 1e-3},        FloatEntry{"decay", 0.01},
    FloatEntry{"momentum", 0.9},  FloatEntry{"correction", 0.5}, FloatEntry{"alpha", 1.5},
    FloatEntry{"beta", 0.5},      FloatEntry{"scale", 0.5},      FloatEntry{"dt", 0.01},
    FloatEntry{"dx", 0.1},        FloatEntry{"dy", 0.1},         FloatEntry{"sigma", 2.0},
    FloatEntry{"threshold", 0.5}, FloatEntry{"inv", 0.25},       FloatEntry{"prob", 0.5}};

/// 'w' for names like imageW and wA, 'h' for dataH and hB; else 0.
char sideOf(std::string_view name) {
    if (name.size() < 2)
        return 0;
    if (name.back() == 'W' || name.back() == 'H')
        return name.back() == 'W' ? 'w' : 'h';
    const bool matrix = name.size() == 2 && name[1] >= 'A' && name[1] <= 'Z';
    return matrix && (name[0] == 'w' || name[0] == 'h') ? name[0] : char{0};
}

std::string lowerCase(std::string_view name) {
    std::string lower;
    std::ranges::transform(name, std::back_inserter(lower),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

/// Whether the name is that of a convolution's or a pooling's window.
bool isOfWindow(std::string_view name) {
    const std::string lower = lowerCase(name);
    return std::ranges::any_of(
        std::array{"ksize", "kernel_size", "kernelsize", "kernel_w", "kernel_h", "filter",
                   "dilation", "pool"},
        [&](const char* part) { return lower.find(part) != std::string::npos; });
}

} // namespace

NameGuess guessFromName(std::string_view name) {
    NameGuess guess{1, 1.25, false};
    const std::string lower = lowerCase(name);
    const auto part = [&](const auto& entry) {
        return lower.find(entry.name) != std::string::npos;
    };
    if (const auto found = std::ranges::find_if(floatNames, part); found != floatNames.end())
        guess.floating = found->value;
    if (const auto exact = std::ranges::find(exactNames, name, &Entry::name);
        exact != exactNames.end()) {
        guess.integer = exact->value;
        guess.isExtent = exact->isExtent;
    } else if (const auto partial = std::ranges::find_if(partialNames, part);
               partial != partialNames.end()) {
        guess.integer = partial->value;
        guess.isExtent = partial->isExtent;
    } else if (const char side = sideOf(name); side != 0) {
        guess.integer = side == 'w' ? 128 : 64;
        guess.isExtent = true;
    } else if (lower.size() > 1 && lower.front() == 'n') { // nElem, npixels
        guess.integer = 1024;
        guess.isExtent = true;
    } else if (lower.ends_with("_n")) { // hidden_n
        guess.integer = 256;
        guess.isExtent = true;
    }
    return guess;
}

NameGuess guessAmong(std::string_view name, const std::vector<std::string>& all) {
    NameGuess guess = guessFromName(name);
    if (lowerCase(name).find("stride") != std::string::npos &&
        std::ranges::any_of(all, isOfWindow)) {
        guess.integer = 1;
        guess.isExtent = false;
    }
    return guess;
}

NameGuess guessLength(std::string_view name, std::int64_t length) {
    NameGuess guess = guessFromName(name);
    if (!guess.isExtent && guess.integer <= 1) {
        guess.integer = length;
        guess.isExtent = true;
    }
    return guess;
}

} // namespace kernelskill::engine
