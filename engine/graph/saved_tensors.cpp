#include "engine/graph/saved_tensors.h"

#include "analysis/source/try.h"
#include "engine/graph/pickle.h"
#include "engine/graph/tensor_extents.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace kernelskill::engine::graph {
namespace {

constexpr std::uint64_t maxPickleBytes = std::uint64_t{16} << 20;
constexpr std::size_t maxListDepth = 64;
/// The max number of visits: a list that stands in many places is visited in each.
constexpr std::size_t maxVisits = 1'000'000;

struct NamedType {
    std::string_view storage; ///< "torch.FloatStorage"; empty: there is none.
    std::string_view type;    ///< "torch.float32"
    ElementType element;
};
constexpr std::array namedTypes = {
    NamedType{"torch.ByteStorage", "torch.uint8", ElementType::UInt8},
    NamedType{"torch.CharStorage", "torch.int8", ElementType::Int8},
    NamedType{"torch.ShortStorage", "torch.int16", ElementType::Int16},
    NamedType{"torch.IntStorage", "torch.int32", ElementType::Int32},
    NamedType{"torch.LongStorage", "torch.int64", ElementType::Int64},
    NamedType{"torch.HalfStorage", "torch.float16", ElementType::Float16},
    NamedType{"torch.FloatStorage", "torch.float32", ElementType::Float32},
    NamedType{"torch.DoubleStorage", "torch.float64", ElementType::Float64},
    NamedType{"torch.ComplexFloatStorage", "torch.complex64", ElementType::Complex64},
    NamedType{"torch.ComplexDoubleStorage", "torch.complex128", ElementType::Complex128},
    NamedType{"torch.BoolStorage", "torch.bool", ElementType::Bool},
    NamedType{"torch.BFloat16Storage", "torch.bfloat16", ElementType::BFloat16},
    NamedType{"", "torch.complex32", ElementType::Complex32},
    NamedType{"", "torch.uint16", ElementType::UInt16},
    NamedType{"", "torch.float8_e4m3fn", ElementType::Float8E4M3FN},
    NamedType{"", "torch.float8_e5m2", ElementType::Float8E5M2},
    NamedType{"", "torch.float8_e4m3fnuz", ElementType::Float8E4M3FNUZ},
    NamedType{"", "torch.float8_e5m2fnuz", ElementType::Float8E5M2FNUZ},
};

struct Storage {
    std::string key;
    std::optional<ElementType> element; ///< nullopt: its bytes have no type.
};

class TensorReader {
public:
    using Kind = PickleValue::Kind;

    TensorReader(Archive& archive, std::string root, const Pickle& pickle)
        : archive_(archive), root_(std::move(root)), pickle_(pickle) {}

    Result<SavedTensors> read() {
        KERNELSKILL_CHECK(visit(pickle_.root, {}, 0));
        return std::move(result_);
    }

private:
    Result<void> visit(PickleIndex index, const std::string& name, std::size_t depth) {
        if (depth > maxListDepth || ++visits_ > maxVisits)
            return malformed("the pickle's lists are nested too deeply");
        const PickleValue& value = pickle_.at(index);
        switch (value.kind) {
        case Kind::None:
        case Kind::Bool:
        case Kind::Integer:
        case Kind::Float:
        case Kind::Text:
            return {};
        case Kind::Tuple:
        case Kind::List:
            for (const PickleIndex item : value.items)
                KERNELSKILL_CHECK(visit(item, {}, depth + 1));
            return {};
        case Kind::Dictionary:
            for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
                const PickleValue& key = pickle_.at(value.items[i]);
                KERNELSKILL_CHECK(visit(value.items[i + 1], depth == 0 ? key.text : "", depth + 1));
            }
            return {};
        case Kind::Call: {
            KERNELSKILL_TRY(TensorData tensor, readTensor(value, 0));
            result_.tensors.emplace_back(name, std::move(tensor));
            return {};
        }
        case Kind::Global:
            return malformed(fmt::format("the pickle holds '{}', which is no tensor", value.text));
        case Kind::PersistentId:
            return malformed("the pickle holds a storage outside of a tensor");
        }
        return {};
    }

    /// (storage, offset, sizes, strides, requires_grad, hooks[, dtype]) of _rebuild_tensor_v2 and
    /// _v3, or (tensor, requires_grad, hooks) of _rebuild_parameter.
    Result<TensorData> readTensor(const PickleValue& call, std::size_t depth) {
        const std::string& function = pickle_.at(call.items[0]).text;
        const std::vector<PickleIndex>& arguments = pickle_.at(call.items[1]).items;
        if (function == "torch._utils._rebuild_parameter" && !arguments.empty() && depth == 0 &&
            pickle_.at(arguments[0]).kind == Kind::Call)
            return readTensor(pickle_.at(arguments[0]), depth + 1);
        const bool isTyped = function == "torch._utils._rebuild_tensor_v3";
        if (!isTyped && function != "torch._utils._rebuild_tensor_v2")
            return malformed(fmt::format(
                "the pickle calls '{}', which is not called: only plain tensors are read",
                function));
        if (arguments.size() < (isTyped ? 7 : 6))
            return malformed("a tensor of the pickle lacks arguments");
        KERNELSKILL_TRY(const Storage storage, readStorage(arguments[0]));
        TensorData tensor;
        KERNELSKILL_TRY(tensor.type.offset.value, integer(arguments[1]));
        KERNELSKILL_TRY(tensor.type.sizes, extents(arguments[2]));
        KERNELSKILL_TRY(tensor.type.strides, extents(arguments[3]));
        if (isTyped) {
            const PickleValue& type = pickle_.at(arguments[6]);
            const auto* const found = std::ranges::find(namedTypes, type.text, &NamedType::type);
            if (type.kind != Kind::Global || found == namedTypes.end())
                return malformed(fmt::format("the element type '{}' is not known", type.text));
            tensor.type.element = found->element;
        } else {
            if (!storage.element)
                return malformed("a tensor of the pickle has no element type");
            tensor.type.element = *storage.element;
        }
        KERNELSKILL_TRY(SharedBytes data, archive_.data(root_ + "data/" + storage.key));
        tensor.bytes = data.bytes;
        tensor.owner = std::move(data.owner);
        if (auto problem = storageProblem(tensor.type, tensor.bytes.size()); !problem.empty())
            return malformed(fmt::format("the tensor of data/{} {}", storage.key, problem));
        return tensor;
    }

    /// ('storage', torch.FloatStorage, '0', 'cpu', 1216)
    Result<Storage> readStorage(PickleIndex index) const {
        const PickleValue& id = pickle_.at(index);
        if (id.kind != Kind::PersistentId)
            return malformed("a tensor of the pickle has no storage");
        const PickleValue& tuple = pickle_.at(id.items[0]);
        if (tuple.kind != Kind::Tuple || tuple.items.size() < 5 ||
            pickle_.at(tuple.items[0]).text != "storage")
            return malformed("the storage of a tensor of the pickle has no name");
        const PickleValue& type = pickle_.at(tuple.items[1]);
        const PickleValue& key = pickle_.at(tuple.items[2]);
        if (type.kind != Kind::Global || key.kind != Kind::Text)
            return malformed("the storage of a tensor of the pickle has no name");
        if (type.text == "torch.storage.UntypedStorage")
            return Storage{key.text, std::nullopt};
        const auto* const found = std::ranges::find(namedTypes, type.text, &NamedType::storage);
        if (found == namedTypes.end())
            return malformed(fmt::format("the storage type '{}' is not known", type.text));
        return Storage{key.text, found->element};
    }

    Result<std::int64_t> integer(PickleIndex index) const {
        const PickleValue& value = pickle_.at(index);
        if (value.kind != Kind::Integer)
            return malformed("a tensor of the pickle has an extent that is no integer");
        return value.integer;
    }

    Result<std::vector<Extent>> extents(PickleIndex index) const {
        const PickleValue& value = pickle_.at(index);
        if (value.kind != Kind::Tuple)
            return malformed("a tensor of the pickle has no shape");
        std::vector<Extent> found;
        for (const PickleIndex item : value.items) {
            KERNELSKILL_TRY(const std::int64_t extent, integer(item));
            found.push_back({extent, {}});
        }
        return found;
    }

    std::unexpected<Error> malformed(std::string what) const {
        return std::unexpected(Error{ErrorKind::InvalidInput, std::move(what), archive_.name(),
                                     "save plain tensors with torch.export.save"});
    }

    Archive& archive_;
    std::string root_; ///< "archive/"
    const Pickle& pickle_;
    std::size_t visits_ = 0;
    SavedTensors result_;
};

} // namespace

Result<SavedTensors> readSavedTensors(SharedBytes file, const std::string& name) {
    // torch 2.6 and 2.7 write an empty file for no value.
    if (file.bytes.empty())
        return SavedTensors{};
    KERNELSKILL_TRY(Archive archive, Archive::read(std::move(file), name));
    constexpr std::string_view pickleName = "data.pkl";
    const auto pickles = archive.entriesEndingWith(pickleName);
    if (pickles.size() != 1)
        return std::unexpected(Error{ErrorKind::InvalidInput, "this is no file of torch.save", name,
                                     "export the program again with torch.export.save"});
    const std::string entry(pickles.front());
    const std::string root = entry.substr(0, entry.size() - pickleName.size());
    KERNELSKILL_CHECK(requireLittleEndian(archive, root));
    KERNELSKILL_TRY(const SharedBytes bytes, archive.checkedData(entry, maxPickleBytes));
    KERNELSKILL_TRY(const Pickle pickle, readPickle(bytes.bytes, name));
    return TensorReader(archive, root, pickle).read();
}

} // namespace kernelskill::engine::graph
