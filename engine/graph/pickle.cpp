#include "engine/graph/pickle.h"

#include "analysis/source/try.h"

#include <spdlog/fmt/fmt.h>

#include <bit>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace kernelskill::engine::graph {
namespace {

constexpr std::size_t maxValues = 1'000'000;

/// The opcodes of Python's pickle format, protocols 2 to 5.
enum class Opcode : std::uint8_t {
    Mark = '(',
    Stop = '.',
    Pop = '0',
    BinaryInt = 'J',
    BinaryInt1 = 'K',
    BinaryInt2 = 'M',
    None = 'N',
    PersistentId = 'Q',
    Reduce = 'R',
    BinaryUnicode = 'X',
    EmptyList = ']',
    Append = 'a',
    Build = 'b',
    Global = 'c',
    Appends = 'e',
    BinaryFloat = 'G',
    Get = 'h',
    LongGet = 'j',
    Put = 'q',
    LongPut = 'r',
    SetItem = 's',
    Tuple = 't',
    EmptyTuple = ')',
    SetItems = 'u',
    EmptyDictionary = '}',
    Protocol = 0x80,
    Tuple1 = 0x85,
    Tuple2 = 0x86,
    Tuple3 = 0x87,
    True = 0x88,
    False = 0x89,
    Long1 = 0x8a,
    ShortUnicode = 0x8c,
    StackGlobal = 0x93,
    Memoize = 0x94,
    Frame = 0x95,
};

class PickleReader {
public:
    PickleReader(std::span<const std::byte> bytes, const std::string& where)
        : bytes_(bytes), where_(where) {}

    Result<Pickle> read() {
        while (true) {
            const std::uint64_t code = number(1);
            if (isCutOff_)
                return malformed("the pickle is cut off");
            if (static_cast<Opcode>(code) == Opcode::Stop)
                break;
            KERNELSKILL_CHECK(apply(static_cast<Opcode>(code)));
            if (isCutOff_)
                return malformed("the pickle is cut off");
            if (pickle_.values.size() > maxValues)
                return malformed(fmt::format("the pickle has more than {} values", maxValues));
        }
        KERNELSKILL_TRY(pickle_.root, pop());
        return std::move(pickle_);
    }

private:
    using Kind = PickleValue::Kind;

    Result<void> apply(Opcode code) {
        switch (code) {
        case Opcode::Protocol:
            number(1);
            return {};
        case Opcode::Frame:
            number(8);
            return {};
        case Opcode::Mark:
            marks_.push_back(stack_.size());
            return {};
        case Opcode::Pop:
            return dropped();
        case Opcode::None:
            return push({});
        case Opcode::True:
        case Opcode::False:
            return push({.kind = Kind::Bool, .integer = code == Opcode::True ? 1 : 0});
        case Opcode::BinaryInt:
            return pushInteger(static_cast<std::int32_t>(number(4)));
        case Opcode::BinaryInt1:
            return pushInteger(static_cast<std::int64_t>(number(1)));
        case Opcode::BinaryInt2:
            return pushInteger(static_cast<std::int64_t>(number(2)));
        case Opcode::Long1:
            return pushLong();
        case Opcode::BinaryFloat:
            return push(
                {.kind = Kind::Float, .number = std::bit_cast<double>(std::byteswap(number(8)))});
        case Opcode::BinaryUnicode:
            return push({.kind = Kind::Text, .text = std::string(text(number(4)))});
        case Opcode::ShortUnicode:
            return push({.kind = Kind::Text, .text = std::string(text(number(1)))});
        case Opcode::EmptyTuple:
            return push({.kind = Kind::Tuple});
        case Opcode::EmptyList:
            return push({.kind = Kind::List});
        case Opcode::EmptyDictionary:
            return push({.kind = Kind::Dictionary});
        case Opcode::Tuple1:
            return pushTuple(1);
        case Opcode::Tuple2:
            return pushTuple(2);
        case Opcode::Tuple3:
            return pushTuple(3);
        case Opcode::Tuple: {
            KERNELSKILL_TRY(std::vector<PickleIndex> items, sinceMark());
            return push({.kind = Kind::Tuple, .items = std::move(items)});
        }
        case Opcode::Append:
            return extend(Kind::List, 1);
        case Opcode::SetItem:
            return extend(Kind::Dictionary, 2);
        case Opcode::Appends:
            return extendSinceMark(Kind::List);
        case Opcode::SetItems:
            return extendSinceMark(Kind::Dictionary);
        case Opcode::Global: {
            const std::string_view module = line();
            const std::string_view name = line();
            return push({.kind = Kind::Global, .text = fmt::format("{}.{}", module, name)});
        }
        case Opcode::StackGlobal:
            return pushStackGlobal();
        case Opcode::Reduce:
            return reduce();
        case Opcode::Build:
            return build();
        case Opcode::PersistentId: {
            KERNELSKILL_TRY(const PickleIndex id, pop());
            return push({.kind = Kind::PersistentId, .items = {id}});
        }
        case Opcode::Put:
            return remember(number(1));
        case Opcode::LongPut:
            return remember(number(4));
        case Opcode::Memoize:
            return remember(memory_.size());
        case Opcode::Get:
            return recall(number(1));
        case Opcode::LongGet:
            return recall(number(4));
        case Opcode::Stop:
            break;
        }
        return malformed(fmt::format("the pickle has the opcode {:#04x}, which torch.save does not "
                                     "write for tensors",
                                     static_cast<unsigned>(code)));
    }

    /// A little-endian number; sets `isCutOff_` if the bytes end before it does.
    std::uint64_t number(std::size_t size) {
        if (bytes_.size() - at_ < size) {
            isCutOff_ = true;
            return 0;
        }
        std::uint64_t value = 0;
        for (std::size_t i = 0; i < size; ++i)
            value |= std::to_integer<std::uint64_t>(bytes_[at_ + i]) << (8 * i);
        at_ += size;
        return value;
    }

    std::string_view text(std::uint64_t size) {
        if (bytes_.size() - at_ < size) {
            isCutOff_ = true;
            return {};
        }
        const auto* const begin = reinterpret_cast<const char*>(bytes_.data() + at_);
        at_ += static_cast<std::size_t>(size);
        return {begin, static_cast<std::size_t>(size)};
    }

    std::string_view line() {
        const std::string_view rest{reinterpret_cast<const char*>(bytes_.data() + at_),
                                    bytes_.size() - at_};
        const std::size_t end = rest.find('\n');
        if (end == std::string_view::npos) {
            isCutOff_ = true;
            return {};
        }
        at_ += end + 1;
        return rest.substr(0, end);
    }

    Result<void> push(PickleValue value) {
        stack_.push_back(static_cast<PickleIndex>(pickle_.values.size()));
        pickle_.values.push_back(std::move(value));
        return {};
    }

    Result<void> pushInteger(std::int64_t value) {
        return push({.kind = Kind::Integer, .integer = value});
    }

    Result<void> pushLong() {
        const auto size = static_cast<std::size_t>(number(1));
        if (size > sizeof(std::int64_t))
            return malformed("the pickle has an integer of more than 64 bits");
        std::uint64_t value = number(size);
        const auto unused = static_cast<unsigned>(64 - 8 * size);
        if (size == 0)
            return pushInteger(0);
        return pushInteger(static_cast<std::int64_t>(value << unused) >> unused);
    }

    Result<void> pushTuple(std::size_t size) {
        KERNELSKILL_TRY(std::vector<PickleIndex> items, popped(size));
        return push({.kind = Kind::Tuple, .items = std::move(items)});
    }

    Result<void> pushStackGlobal() {
        KERNELSKILL_TRY(const std::vector<PickleIndex> names, popped(2));
        const PickleValue& module = pickle_.at(names[0]);
        const PickleValue& name = pickle_.at(names[1]);
        if (module.kind != Kind::Text || name.kind != Kind::Text)
            return malformed("the pickle has a global without a name");
        return push({.kind = Kind::Global, .text = fmt::format("{}.{}", module.text, name.text)});
    }

    Result<void> reduce() {
        KERNELSKILL_TRY(std::vector<PickleIndex> items, popped(2));
        const PickleValue& called = pickle_.at(items[0]);
        const PickleValue& arguments = pickle_.at(items[1]);
        if (called.kind != Kind::Global || arguments.kind != Kind::Tuple)
            return malformed("the pickle calls something that is no global");
        if (called.text == "collections.OrderedDict" && arguments.items.empty())
            return push({.kind = Kind::Dictionary});
        return push({.kind = Kind::Call, .items = std::move(items)});
    }

    /// Sets attributes; those of a dictionary (state_dict's `_metadata`) are dropped.
    Result<void> build() {
        KERNELSKILL_CHECK(pop());
        KERNELSKILL_TRY(const PickleIndex built, top());
        if (pickle_.at(built).kind != Kind::Dictionary)
            return malformed("the pickle sets attributes of something that is no dictionary");
        return {};
    }

    Result<void> extend(Kind kind, std::size_t count) {
        KERNELSKILL_TRY(const std::vector<PickleIndex> items, popped(count));
        return append(kind, items);
    }

    Result<void> extendSinceMark(Kind kind) {
        KERNELSKILL_TRY(const std::vector<PickleIndex> items, sinceMark());
        return append(kind, items);
    }

    Result<void> append(Kind kind, const std::vector<PickleIndex>& items) {
        KERNELSKILL_TRY(const PickleIndex index, top());
        PickleValue& extended = pickle_.values[index];
        if (extended.kind != kind || (kind == Kind::Dictionary && items.size() % 2 != 0))
            return malformed("the pickle adds items to something that has none");
        extended.items.insert(extended.items.end(), items.begin(), items.end());
        return {};
    }

    Result<void> remember(std::uint64_t key) {
        KERNELSKILL_TRY(memory_[key], top());
        return {};
    }

    Result<void> recall(std::uint64_t key) {
        const auto found = memory_.find(key);
        if (found == memory_.end())
            return malformed("the pickle reads a place of its memory that it has not written");
        if (stack_.size() > maxValues)
            return malformed(fmt::format("the pickle has more than {} values", maxValues));
        stack_.push_back(found->second);
        return {};
    }

    Result<PickleIndex> top() const {
        if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back()))
            return malformed("the pickle takes a value from its stack where there is none");
        return stack_.back();
    }

    Result<PickleIndex> pop() {
        KERNELSKILL_TRY(const PickleIndex value, top());
        stack_.pop_back();
        return value;
    }

    Result<void> dropped() {
        KERNELSKILL_CHECK(pop());
        return {};
    }

    Result<std::vector<PickleIndex>> popped(std::size_t count) {
        const std::size_t bottom = marks_.empty() ? 0 : marks_.back();
        if (stack_.size() - bottom < count)
            return malformed("the pickle takes a value from its stack where there is none");
        return takenFrom(stack_.size() - count);
    }

    Result<std::vector<PickleIndex>> sinceMark() {
        if (marks_.empty())
            return malformed("the pickle ends a group that it has not begun");
        const std::size_t begin = marks_.back();
        marks_.pop_back();
        return takenFrom(begin);
    }

    std::vector<PickleIndex> takenFrom(std::size_t begin) {
        const auto first = stack_.begin() + static_cast<std::ptrdiff_t>(begin);
        std::vector<PickleIndex> items(first, stack_.end());
        stack_.erase(first, stack_.end());
        return items;
    }

    std::unexpected<Error> malformed(std::string what) const {
        return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what), where_,
                                     "export the program again with torch.export.save"});
    }

    std::span<const std::byte> bytes_;
    const std::string& where_;
    std::size_t at_ = 0;
    bool isCutOff_ = false;
    Pickle pickle_;
    std::vector<PickleIndex> stack_;
    std::vector<std::size_t> marks_; ///< Heights of the stack; never above it.
    std::unordered_map<std::uint64_t, PickleIndex> memory_;
};

} // namespace

Result<Pickle> readPickle(std::span<const std::byte> bytes, const std::string& where) {
    return PickleReader(bytes, where).read();
}

} // namespace kernelskill::engine::graph
