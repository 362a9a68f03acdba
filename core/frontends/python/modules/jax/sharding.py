# SPDX-License-Identifier: Apache-2.0
"""Devices, meshes of one, and where arrays lie."""
import enum
import numpy

MEMORY_KINDS = ("device", "pinned_host", "unpinned_host")


class Memory:
    def __init__(self, kind):
        self.kind = kind

    def __repr__(self):
        return self.kind


class Device:
    id, process_index, platform, device_kind, local_hardware_id = 0, 0, "cpu", "cpu", 0

    def __repr__(self):
        return "CpuDevice(id=0)"

    def __str__(self):
        return "TFRT_CPU_0"

    def addressable_memories(self):
        return [Memory(kind) for kind in MEMORY_KINDS]

    def default_memory(self):
        return Memory("device")

    def memory_stats(self):
        return None


DEVICE = Device()


def _check_kind(kind):
    if kind is not None and kind not in MEMORY_KINDS:
        raise ValueError(f"Could not find memory addressable by device cpu. Device cpu can address the following memory kinds: "
                         f"{', '.join(MEMORY_KINDS)}. Got memory kind: {kind}")
    return kind


class Mesh:
    def __init__(self, devices, axis_names, axis_types=None):
        devices = numpy.array(devices, dtype=object)
        axis_names = (axis_names,) if isinstance(axis_names, str) else tuple(axis_names)
        if devices.ndim != len(axis_names):
            raise ValueError(f"Mesh requires the ndim of its first argument (`devices`) to equal the length of its second argument "
                             f"(`axis_names`), but got devices.ndim == {devices.ndim} and len(axis_names) == {len(axis_names)}.")
        if devices.size > 1:
            raise ValueError("a mesh of several devices cannot be run here: there is one device")
        self.devices, self.axis_names = devices, axis_names

    @property
    def shape(self):
        return dict(zip(self.axis_names, self.devices.shape))

    @property
    def size(self):
        return self.devices.size

    def __eq__(self, other):
        return isinstance(other, Mesh) and self.shape == other.shape

    def __hash__(self):
        return hash(tuple(self.shape.items()))

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None

    def __repr__(self):
        return "Mesh(" + ", ".join(f"{name!r}: {size}" for name, size in self.shape.items()) + ")"


class AxisType(enum.Enum):
    """Who decides what lies where along an axis of a mesh; with one device nobody has to."""
    Auto, Explicit, Manual = range(3)


class PartitionSpec(tuple):
    def __new__(cls, *parts):
        return tuple.__new__(cls, parts)

    def __repr__(self):
        return f"PartitionSpec{tuple.__repr__(self)}"


class Sharding:
    memory_kind = None

    @property
    def device_set(self):
        return {DEVICE}

    @property
    def num_devices(self):
        return 1

    @property
    def is_fully_addressable(self):
        return True

    @property
    def is_fully_replicated(self):
        return True

    def _key(self):
        return (type(self), self.memory_kind)

    def __eq__(self, other):
        return isinstance(other, Sharding) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())


class NamedSharding(Sharding):
    def __init__(self, mesh, spec, *, memory_kind=None):
        for part in spec:
            for name in part if isinstance(part, tuple) else (part,):
                if name is not None and name not in mesh.axis_names:
                    raise ValueError(f"Resource axis: {name} of {spec} is not found in mesh: {mesh.axis_names}.")
        self.mesh, self.spec, self.memory_kind = mesh, spec, _check_kind(memory_kind)

    def with_memory_kind(self, kind):
        return NamedSharding(self.mesh, self.spec, memory_kind=kind)

    def _key(self):
        return (NamedSharding, self.mesh, tuple(self.spec), self.memory_kind)

    def __repr__(self):
        kind = f", memory_kind={self.memory_kind}" if self.memory_kind is not None else ""
        return f"NamedSharding(mesh={self.mesh!r}, spec={self.spec!r}{kind})"


class SingleDeviceSharding(Sharding):
    def __init__(self, device, *, memory_kind=None):
        self._device, self.memory_kind = device, _check_kind(memory_kind)

    def with_memory_kind(self, kind):
        return SingleDeviceSharding(self._device, memory_kind=kind)

    def __repr__(self):
        kind = f", memory_kind={self.memory_kind}" if self.memory_kind is not None else ""
        return f"SingleDeviceSharding(device={self._device!r}{kind})"


def kind_of(place):
    """The memory kind that a device, a sharding or a memory means."""
    if isinstance(place, Sharding):
        return place.memory_kind or "device"
    if isinstance(place, Memory):
        return place.kind
    if place is None or isinstance(place, Device):
        return "device"
    raise ValueError(f"device_put takes a device or a sharding, not {place!r}")
