#include "tests/nest/index_sets.h"

#include "analysis/nest/point_set.h"

#include <isl/ctx.h>
#include <isl/options.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>

#include <memory>

namespace kernelskill::testing {

namespace {

using namespace analysis;

constexpr long maxPoints = 20'000;
constexpr unsigned long maxSteps = 3'000'000;

isl_stat addPoint(isl_point* point, void* elements) {
    isl_val* value = isl_point_get_coordinate_val(point, isl_dim_set, 0);
    static_cast<std::set<std::int64_t>*>(elements)->insert(isl_val_get_num_si(value));
    isl_val_free(value);
    isl_point_free(point);
    return isl_stat_ok;
}

/// The values of the first dimension; false if isl gives up.
bool firstDimension(const std::string& text, std::set<std::int64_t>& elements) {
    const std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)> context(isl_ctx_alloc(), isl_ctx_free);
    isl_options_set_on_error(context.get(), ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(context.get(), maxSteps);
    isl_set* set = isl_set_read_from_str(context.get(), text.c_str());
    const isl_size dimensions = isl_set_dim(set, isl_dim_set);
    if (dimensions > 1)
        set = isl_set_project_out(set, isl_dim_set, 1, static_cast<unsigned>(dimensions) - 1);
    set = isl_set_coalesce(set);
    const bool isFound = isl_set_is_bounded(set) == isl_bool_true &&
                         isl_set_foreach_point(set, addPoint, &elements) == isl_stat_ok;
    isl_set_free(set);
    return isFound && elements.size() <= maxPoints;
}

} // namespace

std::map<Symbol, std::int64_t> valuesOf(const Nest& nest, const NestSizes& sizes) {
    std::map<Symbol, std::int64_t> values;
    for (std::uint8_t axis = 0; axis < 3; ++axis) {
        values[{SymbolKind::BlockDim, axis}] = sizes.block[axis];
        values[{SymbolKind::GridDim, axis}] = sizes.grid[axis];
    }
    for (std::uint32_t id = 0; id < nest.symbols.all().size(); ++id)
        if (const auto known = sizes.parameters.find(nest.symbols.all()[id].name);
            known != sizes.parameters.end() &&
            nest.symbols.all()[id].kind == NestSymbolKind::Parameter)
            values[{SymbolKind::Named, id}] = known->second;
    return values;
}

std::optional<ElementSet> elementsOf(const Nest& nest, NestAccessId access, const NestSizes& sizes,
                                     const std::vector<Index3>& blocks) {
    const NestAccess& own = nest.accesses[access];
    if (!own.index)
        return std::nullopt;
    ElementSet result;
    result.isExact = true;
    for (const Index3& block : blocks) {
        PointSet points(nest, false);
        for (const auto& [symbol, value] : valuesOf(nest, sizes))
            points.fix(symbol, value);
        // A symbol that nothing defines is a dimension of its own: the element.
        const std::string element = points.dimension({SymbolKind::Opaque, 0}, 0);
        for (std::uint8_t axis = 0; axis < 3; ++axis)
            points.require(points.dimension({SymbolKind::BlockIdx, axis}, 0) + " = " +
                           std::to_string(block[axis]));
        points.requireDomain(own.node, 0);
        points.require(own.condition, 0);
        const auto index = points.linear(*own.index, 0);
        if (!index || points.hasParameters())
            return std::nullopt;
        points.require(element + " = " + *index);
        result.isExact = result.isExact && points.isExact();
        if (!firstDimension(points.text(), result.elements))
            return std::nullopt;
    }
    return result;
}

} // namespace kernelskill::testing
