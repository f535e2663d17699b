#include "engine/execution/emulator/compile/arithmetic.h"

#include "engine/execution/emulator/compile/host_instruction.h"
#include "engine/execution/emulator/compile/operation_costs.h"
#include "engine/execution/emulator/compile/value_liveness.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace kernelskill::engine {

using emulator::Counter;

namespace {

constexpr std::string_view operationMark = "ks_operation ";
/// Headers of the prelude whose functions are single operations in CUDA. Their arithmetic counts
/// where they are called, as far as line tables tell.
constexpr auto plainHeaders =
    std::to_array<std::string_view>({"cuComplex.h", "vector_functions.h"});
/// The maximum number of sums that one product is fused with. Beyond it, multiplying once is
/// cheaper (LLVM's rule).
constexpr std::size_t maxSumsPerProduct = 4;

std::optional<unsigned> leadingNumber(std::string_view text) {
    unsigned value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} ? std::optional(value) : std::nullopt;
}

Counter counterOf(HostAction action, bool isDouble) {
    if (action == HostAction::Multiply)
        return isDouble ? Counter::DoubleMultiplies : Counter::SingleMultiplies;
    if (action == HostAction::Fuse)
        return isDouble ? Counter::DoubleFused : Counter::SingleFused;
    return isDouble ? Counter::DoubleAdds : Counter::SingleAdds;
}

/// The labels in the constant pool that contain 1.
std::set<std::string_view> onesOf(const std::vector<AssemblyLine>& lines) {
    std::set<std::string_view> ones{"1.0e+0"};
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        const auto label = lines[i].word;
        if (!label.ends_with(':') || lines[i + 1].word != ".long")
            continue;
        const bool isHigh = i + 2 < lines.size() && lines[i + 2].word == ".long";
        if (lines[i + 1].rest == "1065353216" ||
            (isHigh && lines[i + 1].rest == "0" && lines[i + 2].rest == "1072693248"))
            ones.insert(label.substr(0, label.size() - 1));
    }
    return ones;
}

class ArithmeticReader {
public:
    ArithmeticReader(const std::vector<AssemblyLine>& lines, const AssemblyOptions& options,
                     std::string_view blockHook)
        : lines_(lines), options_(options), blockHook_(blockHook), liveness_(lines),
          ones_(onesOf(lines)) {}

    std::vector<ArithmeticUse> run();

private:
    struct Product {
        std::size_t use = 0;           ///< The use that the multiplication has.
        std::vector<std::size_t> sums; ///< Sums that use the product.
        bool isUsedElsewhere = false;
    };
    struct Sum {
        std::size_t use = 0;
        std::vector<std::size_t> products;
    };
    // Values of held_ that are no products.
    static constexpr std::size_t one = std::numeric_limits<std::size_t>::max();
    static constexpr std::size_t whole = one - 1; ///< Converted from an integer.
    static constexpr std::size_t mask = one - 2;  ///< Made by a comparison.
    static constexpr bool isProduct(std::size_t value) { return value < mask; }

    void file(std::string_view rest);
    void enterFile(unsigned index);
    void begin();
    void end();
    void read(const AssemblyLine& line);
    void arithmetic(const HostInstruction& instruction);
    void sum(const HostInstruction& instruction);
    void logic(std::string_view word, const HostInstruction& instruction);
    [[nodiscard]] bool isOfConversion(const HostInstruction& sum,
                                      const std::string& converted) const;
    void function(std::string_view name);
    void called(const HostInstruction& call);
    void copy(const HostInstruction& instruction);
    void add(Counter counter, std::uint32_t count);
    void addProduct(const std::string& location);
    void useElsewhere(const HostInstruction& instruction);
    void fuse();
    /// An index of products_.
    [[nodiscard]] std::optional<std::size_t> productIn(const std::string& location) const;

    const std::vector<AssemblyLine>& lines_;
    const AssemblyOptions& options_;
    std::string_view blockHook_;
    ValueLiveness liveness_;
    std::set<std::string_view> ones_;
    std::vector<ArithmeticUse> uses_;
    enum class Owner : std::uint8_t { User, Prelude };
    std::map<unsigned, Owner> owners_; ///< The owners of files; other files have none.
    bool isPreludes_ = false;
    std::size_t line_ = 0;
    // The state of the current block:
    std::optional<std::size_t> block_; ///< The line of its hook.
    std::vector<Product> products_;
    std::vector<Sum> sums_;
    std::map<std::string, std::size_t> held_; ///< The known values, by location.
    /// The register that the previous instruction converted from an integer.
    std::string converted_;
    std::optional<std::size_t> firstJump_;
};

std::vector<ArithmeticUse> ArithmeticReader::run() {
    for (line_ = 0; line_ < lines_.size(); ++line_) {
        const AssemblyLine& line = lines_[line_];
        if (line.word == ".file")
            file(line.rest);
        else if (line.word == ".loc")
            enterFile(leadingNumber(line.rest).value_or(0));
        else if (line.word == ".cfi_endproc")
            end();
        else if (line.rest.starts_with(blockHook_))
            begin();
        else if (block_)
            read(line);
    }
    end();
    std::erase_if(uses_, [](const ArithmeticUse& use) { return use.count == 0; });
    return std::move(uses_);
}

/// Reads .file 3 "/folder" "name" or .file 3 "/folder/name".
void ArithmeticReader::file(std::string_view rest) {
    const auto index = leadingNumber(rest);
    if (!index)
        return;
    const bool isPreludes =
        !options_.prelude.empty() && rest.find(options_.prelude) != std::string_view::npos;
    const bool isPlain = std::ranges::any_of(plainHeaders, [&](std::string_view header) {
        return rest.find(header) != std::string_view::npos;
    });
    if (isPreludes && !isPlain)
        owners_[*index] = Owner::Prelude;
    else if (isPlain || rest.find(options_.userMarker) != std::string_view::npos)
        owners_[*index] = Owner::User;
}

/// Code of the host's library belongs to its caller.
void ArithmeticReader::enterFile(unsigned index) {
    const auto owner = owners_.find(index);
    if (owner != owners_.end())
        isPreludes_ = owner->second == Owner::Prelude;
}

void ArithmeticReader::begin() {
    end();
    block_ = line_;
}

void ArithmeticReader::end() {
    if (block_)
        fuse();
    block_.reset();
    products_.clear();
    sums_.clear();
    held_.clear();
    converted_.clear();
    firstJump_.reset();
}

void ArithmeticReader::read(const AssemblyLine& line) {
    if (line.word == "#" && line.rest.starts_with(operationMark))
        function(line.rest.substr(operationMark.size()));
    if (!firstJump_ && (isBranch(line) || isJump(line)))
        firstJump_ = line_;
    const auto instruction = hostInstruction(line);
    const std::string converted = std::exchange(converted_, {});
    switch (instruction.action) {
    case HostAction::None:
        return;
    case HostAction::Call:
        called(instruction);
        return;
    case HostAction::Copy:
        copy(instruction);
        return;
    case HostAction::Other:
        logic(line.word, instruction);
        return;
    case HostAction::Convert:
        useElsewhere(instruction);
        if (instruction.fromInteger) {
            converted_ = instruction.target;
            held_[instruction.target] = whole;
        }
        if (!isPreludes_)
            add(Counter::Conversions, 1);
        return;
    default:
        break;
    }
    if (isPreludes_ || isOfConversion(instruction, converted))
        useElsewhere(instruction);
    else
        arithmetic(instruction);
}

/// Whether a sum is part of the host's conversion code. For unsigned integers it doubles a value
/// that was halved to fit a signed conversion. To round down it subtracts 1 if the truncated value
/// is larger.
bool ArithmeticReader::isOfConversion(const HostInstruction& sum,
                                      const std::string& converted) const {
    if (sum.action != HostAction::Add || sum.sources.size() != 2)
        return false;
    if (sum.sources[0] == sum.sources[1])
        return sum.target == converted;
    const auto holds = [&](const std::string& location, std::size_t value) {
        const auto found = held_.find(location);
        return found != held_.end() && found->second == value;
    };
    return (holds(sum.sources[0], mask) && holds(sum.sources[1], whole)) ||
           (holds(sum.sources[1], mask) && holds(sum.sources[0], whole));
}

/// Comparisons make masks; bits selected by a mask keep their origin.
void ArithmeticReader::logic(std::string_view word, const HostInstruction& instruction) {
    const bool compares = word.starts_with("cmp") && (word.ends_with("ss") || word.ends_with("sd"));
    const auto old = held_.find(instruction.target);
    const bool isMask =
        compares || (word.starts_with("andp") && old != held_.end() && old->second == mask);
    useElsewhere(instruction);
    if (isMask)
        held_[instruction.target] = mask;
}

void ArithmeticReader::arithmetic(const HostInstruction& instruction) {
    const bool isDouble = instruction.isDouble;
    if (instruction.action == HostAction::Add) {
        sum(instruction);
        return;
    }
    const auto dividend = held_.find(instruction.target);
    const bool isReciprocal = dividend != held_.end() && dividend->second == one;
    useElsewhere(instruction);
    switch (instruction.action) {
    case HostAction::Divide:
        function(isReciprocal ? (isDouble ? "drcp" : "frcp") : (isDouble ? "ddiv" : "fdiv"));
        break;
    case HostAction::Root:
        function(isDouble ? "sqrt" : "sqrtf");
        break;
    default:
        add(counterOf(instruction.action, isDouble), instruction.lanes);
        if (instruction.action == HostAction::Multiply)
            addProduct(instruction.target);
        break;
    }
}

void ArithmeticReader::sum(const HostInstruction& instruction) {
    add(counterOf(HostAction::Add, instruction.isDouble), instruction.lanes);
    Sum sum{uses_.size() - 1, {}};
    for (const std::string& source : instruction.sources) {
        const auto product = productIn(source);
        if (!product)
            continue;
        sum.products.push_back(*product);
        products_[*product].sums.push_back(sums_.size());
    }
    sums_.push_back(std::move(sum));
    held_.erase(instruction.target);
}

void ArithmeticReader::function(std::string_view name) {
    const auto cost = costOf(name, options_.fastMath);
    if (!cost)
        return;
    for (const OperationCost& operation : cost->operations)
        add(operation.counter, operation.count);
    if (cost->endsInProduct) {
        addProduct("xmm0");
        held_["v0"] = held_["xmm0"];
    }
}

void ArithmeticReader::called(const HostInstruction& call) {
    const bool isHook = call.callee.starts_with("__tsan_") || call.callee.starts_with("ks_");
    for (const auto& [location, value] : held_) {
        if (isProduct(value) && !isHook && isArgument(location))
            products_[value].isUsedElsewhere = true;
    }
    std::erase_if(held_, [](const auto& held) { return isLostInCalls(held.first); });
    if (!isPreludes_)
        function(call.callee);
}

void ArithmeticReader::copy(const HostInstruction& instruction) {
    const auto source =
        instruction.sources.empty() ? held_.end() : held_.find(instruction.sources.front());
    if (instruction.target.empty()) {
        useElsewhere(instruction); // At the place where loads find it.
    } else if (source != held_.end()) {
        const std::size_t value = source->second;
        held_[instruction.target] = value;
    } else if (ones_.contains(instruction.constant)) {
        held_[instruction.target] = one;
    } else {
        held_.erase(instruction.target);
    }
}

void ArithmeticReader::add(Counter counter, std::uint32_t count) {
    uses_.push_back({*block_, line_, counter, count});
}

/// Adds a product for the last use.
void ArithmeticReader::addProduct(const std::string& location) {
    held_[location] = products_.size();
    products_.push_back({uses_.size() - 1, {}, false});
}

void ArithmeticReader::useElsewhere(const HostInstruction& instruction) {
    for (const std::string& source : instruction.sources) {
        if (const auto product = productIn(source))
            products_[*product].isUsedElsewhere = true;
    }
    held_.erase(instruction.target);
}

std::optional<std::size_t> ArithmeticReader::productIn(const std::string& location) const {
    const auto found = held_.find(location);
    return found != held_.end() && isProduct(found->second) ? std::optional(found->second)
                                                            : std::nullopt;
}

void ArithmeticReader::fuse() {
    for (const auto& [location, value] : held_) {
        if (!isProduct(value) || products_[value].sums.empty())
            continue;
        Product& product = products_[value];
        product.isUsedElsewhere |= liveness_.isRead(location, firstJump_.value_or(line_));
    }
    // The number of sums that still need the product itself.
    std::vector<std::size_t> left(products_.size());
    for (std::size_t i = 0; i < products_.size(); ++i)
        left[i] = products_[i].sums.size();
    for (const Sum& sum : sums_) {
        for (const std::size_t index : sum.products) {
            const Product& product = products_[index];
            ArithmeticUse& addition = uses_[sum.use];
            ArithmeticUse& multiplication = uses_[product.use];
            const bool isDouble = addition.counter == Counter::DoubleAdds;
            const bool fits = multiplication.counter == counterOf(HostAction::Multiply, isDouble) &&
                              multiplication.count == addition.count;
            if (product.isUsedElsewhere || product.sums.size() > maxSumsPerProduct || !fits)
                continue;
            addition.counter = counterOf(HostAction::Fuse, isDouble);
            --left[index];
            break;
        }
    }
    for (std::size_t i = 0; i < products_.size(); ++i) {
        if (left[i] == 0 && !products_[i].sums.empty())
            uses_[products_[i].use].count = 0;
    }
}

} // namespace

std::vector<ArithmeticUse> arithmeticOf(const std::vector<AssemblyLine>& lines,
                                        const AssemblyOptions& options,
                                        std::string_view blockHook) {
    return ArithmeticReader(lines, options, blockHook).run();
}

} // namespace kernelskill::engine
