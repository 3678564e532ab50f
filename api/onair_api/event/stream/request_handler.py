"""Handles the requests of a stream's client: subscribe, unsubscribe, publish, ping."""

from __future__ import annotations

import time

from onair_api.access.target import Target
from onair_api.access.visible_targets import visible_target
from onair_api.auth.roles import authorize
from onair_api.cache.cluster import Cluster
from onair_api.errors import RpcError
from onair_api.event.custom.event_publisher import PUBLISH_ACCESS, PUBLISH_EVENT, EventPublisher
from onair_api.event.custom.publication import decode_publication
from onair_api.event.event import dumps
from onair_api.event.replay.replayer import Replayer, TooManyEvents
from onair_api.event.stream.event_delivery import EventDelivery
from onair_api.event.stream.owner_turns import OwnerTurns
from onair_api.event.stream.requests import StreamRequest, decode_ping, decode_subscription
from onair_api.event.stream.session import Session
from onair_api.event.subscription import Subscription
from onair_api.kubernetes_errors import rpc_error
from onair_api.settings import Settings
from onair_crds.kube.errors import ApiError

REFUSED_S = 0.005
"""Between two requests of an owner's that are refused for their rate: what their streams send meanwhile stays
in their connections.
"""
SINCE_IT_CLOSED = "events between the last connection and this one were lost; read the state again"


class RequestHandler:
    def __init__(
        self,
        cluster: Cluster,
        settings: Settings,
        publisher: EventPublisher,
        delivery: EventDelivery,
        replayer: Replayer,
    ) -> None:
        self._cluster = cluster
        self._settings = settings
        self._publisher = publisher
        self._delivery = delivery
        self._replayer = replayer
        self._turns, self._refused = OwnerTurns(), OwnerTurns()

    async def turn(self, session: Session) -> None:
        """Waits until a request of this session may be handled: others of its owner's may be before it."""
        await self._turns.next(session.owner)

    async def pause(self, session: Session) -> None:
        """Waits as long as a refused request takes, and for refused ones of the same owner before it."""
        await self._refused.next(session.owner, REFUSED_S)

    async def handle_first(self, session: Session, requests: list[StreamRequest]) -> None:
        """Replies to what a stream is opened with."""
        for request in requests:
            await self.turn(session)
            await self.handle(session, request)

    async def handle(self, session: Session, request: StreamRequest) -> None:
        """Replies to one request on the stream, also with its error."""
        try:
            await self._handle(session, request)
        except RpcError as error:
            session.reply_error(request.correlation_id, error)
        except ApiError as error:
            session.reply_error(request.correlation_id, rpc_error(error))

    async def _handle(self, session: Session, request: StreamRequest) -> None:
        correlation_id = request.correlation_id
        match request.kind:
            case "ping":
                session.reply(correlation_id, "pong", dumps(decode_ping(request.value)))
            case "publish":
                await self._publish(session, request)
            case "subscribe":
                name, target = decode_subscription(request.value, "subscribe")
                await self._subscribe(session, correlation_id, name, target)
            case "unsubscribe":
                name, target = decode_subscription(request.value, "unsubscribe")
                if subscription := session.subscriptions.pop((name, target), None):
                    self._delivery.remove(session, subscription)
                session.reply(correlation_id, "unsubscribed", _subscription_json(name, target))

    async def _publish(self, session: Session, request: StreamRequest) -> None:
        authorize(session.identity, PUBLISH_ACCESS.roles, PUBLISH_EVENT)
        limits, events = self._settings.limits, self._settings.events
        event_json = await self._publisher.publish(
            session.identity,
            decode_publication(request.value, events, limits, "publish."),
            session_id=session.id,
            origin=session.origin,
            correlation_id=request.correlation_id,
            path="publish.target",
        )
        session.reply(request.correlation_id, "published", event_json)

    async def _subscribe(
        self, session: Session, correlation_id: str | None, name: str, target: Target
    ) -> None:
        complete = Target()
        if target:
            visible = await visible_target(self._cluster, session.identity, target, "subscribe.target")
            complete = visible.complete
        if session.closed:
            return
        known = session.subscriptions.get((name, target))
        if known is None:
            self._delivery.check(session, name)
        session.reply(correlation_id, "subscribed", _subscription_json(name, target))
        if known is not None:
            return
        subscription = Subscription(name, target, complete)
        self._replay(session, subscription)
        session.subscriptions[name, target] = subscription
        self._delivery.add(session, subscription)

    def _replay(self, session: Session, subscription: Subscription) -> None:
        """Sends what the session missed since its last connection and a new subscription takes."""
        resumed = session.resumed
        if resumed is None or resumed.until < time.monotonic():
            return
        visibility = session.visibility
        if not resumed.loss_reported and not self._replayer.is_complete(resumed.closed, visibility):
            resumed.loss_reported = True
            session.report_loss(SINCE_IT_CLOSED)
        try:
            missed = self._replayer.missed(resumed, visibility, subscription)
            complete = self._delivery.send_missed(session, missed)
        except TooManyEvents:
            complete = False
        if not complete:
            session.report_loss(SINCE_IT_CLOSED)


def _subscription_json(name: str, target: Target) -> bytes:
    return dumps({"name": name, "target": target.json()})
