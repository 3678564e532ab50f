"""The tasks that set up the local environment, their dependencies, and their estimated cold durations.

Estimates are what a run without a container registry printed on two cores. Pure, except `facts`, which
inspects the cache and the engine.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from onair_dev.cluster import base_images, chart, images, kind
from onair_dev.graph import Task
from onair_dev.preflight import has_cluster
from onair_dev.settings import NODE_BUILT, NODE_PUBLIC
from onair_dev.tools import cluster_tools, delivery_servers

IMAGES = {
    "encoder": (125.0, ()),
    "api": (45.0, ()),
    "ingest": (20.0, ("image api",)),
    "operator": (20.0, ("image api",)),
    "mediamtx": (70.0, ()),
    "livekit": (110.0, ()),
    "redis": (5.0, ()),
}
"""Seconds, and the images to build before: the images of these Python programs share their first layers."""


@dataclass(frozen=True)
class Facts:
    """The parts of the environment that exist already."""

    base: bool = True
    node_image: bool = True
    node_pullable: bool = False
    clients: bool = True
    node_programs: bool = True
    control_plane: bool = True
    servers: bool = True
    network_plugin: bool = True
    room_camera: bool = True
    images: frozenset[str] = frozenset(images.NAMES)
    """Images that are built, from current or earlier inputs; the layers of the latter are mostly reusable."""
    cluster: bool = True
    rooms: bool = True
    """The cluster has a room server."""


def facts() -> Facts:
    """Inspects the cache and the engine, and whether the public node image is there or can be pulled."""
    built = frozenset(name for name in images.NAMES if images.was_built(name))
    node = base_images.has_image(NODE_BUILT) or base_images.has_image(NODE_PUBLIC)
    return Facts(
        base=base_images.has_image(base_images.BASE),
        node_image=node,
        node_pullable=base_images.has_public_node(),
        clients=not cluster_tools.absent(cluster_tools.CLIENTS),
        node_programs=not cluster_tools.unbuilt(cluster_tools.NODE),
        control_plane=not cluster_tools.absent(cluster_tools.CONTROL_PLANE),
        servers=not delivery_servers.absent(),
        network_plugin=images.was_built(delivery_servers.NETWORK_PLUGIN),
        room_camera=delivery_servers.path_of(delivery_servers.ROOM_CAMERA).exists(),
        images=built,
        cluster=has_cluster(),
        rooms=has_cluster() and images.ROOMS_INSTALLED.exists(),
    )


def clients(known: Facts) -> list[Task]:
    """kind, helm and kubectl."""
    return [Task("clients", cluster_tools.clients_task, (), 0 if known.clients else 115)]


def image_tasks(known: Facts, names: Iterable[str] = IMAGES) -> list[Task]:
    """Returns tasks for the base image and for images of ours on top of it."""
    tasks = [Task("base image", base_images.base_task, (), 0 if known.base else 40)]
    for name in names:
        cold_s, after = IMAGES[name]
        estimate = 0 if name in known.images else cold_s
        tasks.append(Task(f"image {name}", images.image_task(name), ("base image", *after), estimate))
    return tasks


def refresh_tasks() -> list[Task]:
    """The tasks that build all images from a new base image, with nothing that was built before."""
    base = Task("base image", base_images.refresh_task, (), 40)
    tasks = [
        Task(f"image {name}", images.image_task(name), ("base image", *after), cold_s)
        for name, (cold_s, after) in IMAGES.items()
    ]
    return [base, *tasks]


def node_tasks(known: Facts) -> list[Task]:
    """Returns tasks for kind's node image: pulled, or built from programs and an operating system."""
    if known.node_pullable:
        return [Task("node image", base_images.node_image_task, (), 0 if known.node_image else 60)]
    system_s, image_s = (0, 0) if known.node_image else (12, 25)
    # They are kept apart from the image: a daemon's images may be another user's
    programs_s = 0 if known.node_programs else 260
    return [
        # After the clients, which need the same compilers: in parallel they would gain nothing.
        Task("node programs", cluster_tools.node_programs_task, ("clients",), programs_s),
        Task("node system", base_images.node_os_task, ("base image",), system_s),
        Task("node image", base_images.node_image_task, ("node programs", "node system"), image_s),
    ]


def environment(known: Facts, *, rooms: bool = True) -> list[Task]:
    """Returns all tasks up to the installed chart.

    Args:
        rooms: with the room server.
    """
    names = tuple(name for name in IMAGES if rooms or name != images.ROOMS)
    built = tuple(f"image {name}" for name in names)
    cold = not known.cluster
    return [
        *clients(known),
        *image_tasks(known, names),
        *node_tasks(known),
        Task("push", kind.push_task(names), built, 50 if cold else 0),
        Task("cluster", kind.cluster_task, ("clients", "node image", "base image"), 30 if cold else 3),
        Task("load", kind.load_task(names), ("push", "cluster"), 30 if cold else 0),
        Task("chart", chart.chart_task(names), ("load",), 16 if cold else 8),
    ]


def test_programs(known: Facts) -> list[Task]:
    """Returns tasks for the programs that tests start: a control plane and the servers of destinations."""
    after = ("node programs",) if not known.node_pullable else ("clients",)
    return [
        Task("control plane", cluster_tools.control_plane_task, after, 0 if known.control_plane else 210),
        # After the image with the room server, which is one of them
        Task(
            "servers",
            delivery_servers.servers_task,
            ("clients", "image livekit"),
            0 if known.servers else 170,
        ),
    ]


def network_plugin(known: Facts) -> list[Task]:
    """Returns a task for the image of the plugin that enforces policies for tests of the cluster."""
    estimate = 0 if known.network_plugin else 40
    # After the clients, whose packages of Kubernetes it shares
    needs = ("base image", "clients")
    return [Task("network plugin", images.image_task(delivery_servers.NETWORK_PLUGIN), needs, estimate)]


def of(what: str, known: Facts) -> list[Task]:
    """Returns the tasks of a command."""
    match what:
        case "images":
            return image_tasks(known)
        case "refresh":
            return refresh_tasks()
        case "tools":
            programs = [*test_programs(known), *network_plugin(known)]
            return [*clients(known), *image_tasks(known), *node_tasks(known), *programs]
        case "integration" | "soak":
            # MediaMTX is built together with its image.
            return [*clients(known), *image_tasks(known), *node_tasks(known), *test_programs(known)]
        case "test":
            return [*environment(known), *test_programs(known), *network_plugin(known)]
        case "bench":
            estimate = 0 if known.room_camera else 60
            camera = Task("room camera", delivery_servers.room_camera_task, ("servers",), estimate)
            return [*environment(known), *test_programs(known), camera]
        case "up":
            return environment(known)
        case "demo":
            # No show of the demo has a room; their server takes as long to build as a fifth of the rest
            return environment(known, rooms=known.rooms or images.ROOMS in known.images)
        case _:
            raise ValueError(what)


def builds_cluster_tools(what: str) -> bool:
    """Whether a command builds the cluster's programs: all do but those of our images."""
    return any(task.name == "clients" for task in of(what, Facts()))
